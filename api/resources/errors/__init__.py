"""The catalogue of errors."""
