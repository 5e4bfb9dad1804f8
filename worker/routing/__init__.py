"""Which carrier a message takes, and whose turn it is there."""
