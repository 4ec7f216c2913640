"""The reports of tools, one format a file. All of them are untrusted text."""
