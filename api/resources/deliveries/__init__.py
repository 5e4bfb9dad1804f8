"""Deliveries to webhooks, and their replay."""
