"""Messages as they are read: search, and the status of each."""
