"""Where every call to a model is paid, whoever serves it: ledger, caps, prices, limits, retries, breaker, cache warmth."""
