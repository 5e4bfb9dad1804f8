"""Deliveries to webhooks, and their replays."""
