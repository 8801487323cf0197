"""Inputs from the field: as frameworks, buses and serializers write them."""
