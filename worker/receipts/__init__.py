"""Applies delivery receipts and late responses, and resolves messages in doubt."""
