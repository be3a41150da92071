"""Pictures. Only what draws one imports this, since it needs matplotlib."""
