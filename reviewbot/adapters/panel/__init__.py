"""Who answers the questions of a debate: the static analysts, and language models one file each."""
