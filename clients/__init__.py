"""Clients of the API, and what makes them of its OpenAPI document."""
