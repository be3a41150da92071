"""The parts of the run, each a module with `run(setting) -> Part`."""
