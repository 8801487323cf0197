"""The bridge run with real agents: their programs, what is expected of each, and the run."""
