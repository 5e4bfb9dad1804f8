"""The account's audit log."""
