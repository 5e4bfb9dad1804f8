"""Chooses the carrier of each message, and runs the carriers' queues."""
