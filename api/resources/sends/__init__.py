"""Sends after they were accepted: list, progress, change, cancel, pause, resume."""
