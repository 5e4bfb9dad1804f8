"""The catalogues of errors."""
