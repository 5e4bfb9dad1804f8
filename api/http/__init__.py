"""Requests and answers: bodies, errors, pages, CSV, client addresses."""
