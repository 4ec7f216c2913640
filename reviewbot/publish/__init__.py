"""What people and machines read: one review, in the formats that ``formats.py`` lists. Values in, text out."""
