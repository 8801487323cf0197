"""Measurements, run by hand: `python -m tests.bench --help`. Nothing here asserts a time."""
