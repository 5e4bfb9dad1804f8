"""What answers look like; the OpenAPI document is made of it."""
