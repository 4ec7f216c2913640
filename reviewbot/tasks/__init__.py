"""Code that proves itself: candidates are drafted, tried, judged, and only then written."""
