"""HTTP requests and responses: bodies, errors, pagination, CSV, client addresses."""
