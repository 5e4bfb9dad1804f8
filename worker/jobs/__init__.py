"""Background jobs: expansion, imports, usage, retention, erasure, audits."""
