"""Composing a message, its price, and the progress of a send."""
