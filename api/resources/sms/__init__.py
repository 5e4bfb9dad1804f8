"""Send to one phone, to a list or to a group, and quotes: the HTTP face of `api/accept/`."""
