"""The sandbox of an account."""
