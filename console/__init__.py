"""The web console: pages for people, made of answers of the HTTP API."""
