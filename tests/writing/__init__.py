"""The local writer, on real repositories and with real kills."""
