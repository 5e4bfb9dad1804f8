"""Sends: what may be sent, hold and close, order among accounts, placeholders."""
