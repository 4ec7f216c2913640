"""What the change does not touch but what speaks about it: definitions, callers and tests of its symbols, within a budget.

``names.wanted`` says which words to search for; somebody searches; ``mentions.found`` ranks what was found and names the files to
read; ``related.related`` cuts out of them what is shown. Nothing here reads a file.
"""
