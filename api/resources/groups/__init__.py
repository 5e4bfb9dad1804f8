"""Contact groups."""
