"""The parts of the comparison. Each is a module with `run(setting) -> Part`."""
