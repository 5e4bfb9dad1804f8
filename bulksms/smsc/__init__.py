"""A simulated SMSC: it takes binds and submits as a carrier would, and misbehaves as told."""
