"""The OpenAPI document, generated from the endpoints and their schemas."""
