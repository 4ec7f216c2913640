"""Tests against a fake GitHub, and the fake itself."""
