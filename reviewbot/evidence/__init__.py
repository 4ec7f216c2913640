"""Evidence: which checks a change deserves (``plan``), and what their outcomes say (``collect``). Text in, values out."""
