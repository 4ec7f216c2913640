"""A provider, a tool, a pattern and a parser for reviewbot."""
