"""SMPP credentials of accounts, and open binds."""
