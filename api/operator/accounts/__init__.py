"""Accounts: list, create, change, suspend, activate and close them."""
