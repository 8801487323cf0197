"""The peers of each protocol, and those that cannot be run here."""
