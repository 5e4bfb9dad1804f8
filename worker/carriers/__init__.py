"""Carrier drivers. A driver opens, submits a window, closes, and maps every response to a `ResponseKind`."""
