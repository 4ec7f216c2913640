"""reviewbot: reviews a change by debate over executed evidence.

``from reviewbot import review`` gives the library's one function; see :func:`reviewbot.library.review`.
"""

__version__ = "0.1.0"
