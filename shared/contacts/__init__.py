"""Contact groups, their CSV files, and opt-outs."""
