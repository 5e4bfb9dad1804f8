"""Invitations of people to an account."""
