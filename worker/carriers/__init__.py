"""Carrier drivers. A driver opens, submits a window, closes, and maps every answer to an `Answer`."""
