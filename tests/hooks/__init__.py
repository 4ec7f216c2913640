"""Git hooks, with real git and real processes."""
