"""Messages from phones."""
