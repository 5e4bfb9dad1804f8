"""The OpenAPI document, made of the endpoints and their schemas."""
