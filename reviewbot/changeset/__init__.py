"""From git's bytes to a change: which files, which lines, what of it is in scope, and how it is shown."""
