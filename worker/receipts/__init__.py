"""Delivery receipts, late answers, and the doubts that they resolve."""
