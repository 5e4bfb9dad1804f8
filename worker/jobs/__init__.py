"""What runs beside sending: expansion, imports, usage, retention, erasure, audits."""
