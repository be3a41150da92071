"""Programs that make files by old writers, and compare footers with rows."""
