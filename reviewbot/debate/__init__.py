"""The debate: a generator that yields questions and experiments, a round at a time, and is sent the answers.

``protocol`` knows the order of the phases; ``minutes`` keeps the record; ``claims`` lets through what can be anchored;
``cluster`` joins what is about one thing; ``triage`` decides what is worth an argument; ``weigh`` turns positions and evidence
into a probability; ``stop`` ends a case; ``reply`` reads what panelists say, ``cites`` tells whether what they cite exists;
``numbers`` holds every constant with its source; ``making`` is the cycle that makes code.
"""
