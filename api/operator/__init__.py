"""The operator API under `/operator/v1`, one package per theme. Importing this package declares its endpoints."""
# ruff: noqa: F401

import api.operator.auth.routes
