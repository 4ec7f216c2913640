"""What may become a commit: splices put together, and the gate that every patch passes, whoever wrote it (``security.md`` 6)."""
