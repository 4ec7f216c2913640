"""What reviewbot talks about: frozen values that know themselves. Standard library only."""
