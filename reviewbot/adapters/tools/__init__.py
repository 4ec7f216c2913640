"""Read-only tools for panelists, one a file, answered from git's objects and never from the work tree."""
