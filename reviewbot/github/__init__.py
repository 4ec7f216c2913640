"""Reviews on GitHub: read a pull request, post one review, keep it up to date, obey comments."""
