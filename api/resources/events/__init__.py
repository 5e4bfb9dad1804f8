"""The event stream, which clients pull in order."""
