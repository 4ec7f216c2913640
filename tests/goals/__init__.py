"""Goals: a bug that was reported, speed, structure, tests."""
