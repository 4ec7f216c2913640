"""Programs that run in zone R, beside the code of a change. They import nothing of reviewbot and may be read on their own.

``reviewbot_tests`` starts pytest, ``reviewbot_pytest`` is the plugin that reports, ``reviewbot_api`` compares public names.
``reviewbot_postgres`` runs SQL and migrations in a cluster of its own, ``reviewbot_timing`` times a snippet,
``reviewbot_execute`` runs a command that a panelist chose. ``reviewbot_behaviour`` and ``reviewbot_contract`` search for
counter-examples, ``reviewbot_replay`` repeats one; the other modules are parts of these.
"""
