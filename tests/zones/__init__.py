"""The three zones as processes, and the documents between them."""
