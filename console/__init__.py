"""The web console: pages for people, built from responses of the HTTP API."""
