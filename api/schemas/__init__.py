"""Fields and schemas that validate requests and from which the OpenAPI document is generated."""
