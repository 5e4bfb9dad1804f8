"""API keys of accounts."""
