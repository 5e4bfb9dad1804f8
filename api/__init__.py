"""The HTTP API: checks, prices and durably accepts sends."""
