"""The clients of the API, against the service."""
