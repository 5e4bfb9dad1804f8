"""Messages: list, search, timeline."""
