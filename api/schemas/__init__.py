"""What requests look like: they are checked by it, and the OpenAPI document is made of it."""
