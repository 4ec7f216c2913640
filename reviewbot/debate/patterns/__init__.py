"""Conversations other than a review, each a generator of the same shape: it yields rounds of questions and is sent the answers.

``consult`` puts somebody's question to the panel; ``dispute`` puts a person's argument against a finding before those who can
weigh it, which ``charge`` opens again.
"""
