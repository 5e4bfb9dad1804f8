"""Exports of messages, made in the background."""
