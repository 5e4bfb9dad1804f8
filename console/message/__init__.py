"""A message that is written, its price, and a send that goes out."""
