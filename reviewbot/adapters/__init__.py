"""The world behind the ports, one module for each part of it. Only wiring imports from here."""
