"""From a debate to one review: what is told, how bad the whole is, and which finding is which over time."""
