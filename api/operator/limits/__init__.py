"""Limits and rules of accounts, and findings of the pumping guard."""
