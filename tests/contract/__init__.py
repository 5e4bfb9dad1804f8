"""The API against its own OpenAPI document."""
