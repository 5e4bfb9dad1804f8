"""Sends of all accounts."""
