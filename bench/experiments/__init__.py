"""One file per experiment; each has `run(setting) -> Report`."""
