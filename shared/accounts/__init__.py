"""Accounts: administration, keys, limits, sandboxes and the audit log."""
