"""Metrics, health and logs of a worker. Called by the rest of the bridge, never calls it."""
