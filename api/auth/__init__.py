"""Authentication: API keys, bearer tokens and their revocation."""
