"""Programs that run in zone R, beside the code of a change. They import nothing of reviewbot and may be read on their own.

``reviewbot_tests`` starts pytest, ``reviewbot_pytest`` is the plugin that reports, ``reviewbot_api`` compares public names.
"""
