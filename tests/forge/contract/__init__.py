"""GitHub's own description of its API: a slice, and the program that cut it."""
