"""Carriers: their state, pace, pauses, rate limits and test messages."""
