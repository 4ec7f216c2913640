"""What nobody may see raw: secrets are redacted and hidden characters made visible before a text is shown or sent."""
