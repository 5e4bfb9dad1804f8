"""Messages of all accounts: search and timeline."""
