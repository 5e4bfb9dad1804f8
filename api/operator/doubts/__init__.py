"""Messages in doubt."""
