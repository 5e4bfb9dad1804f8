"""Who calls: API keys, bearer tokens and their revocation."""
