"""The HTTP API: validates, prices and durably accepts sends."""
