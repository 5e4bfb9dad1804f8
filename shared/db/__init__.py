"""Postgres: connections, tables, migrations."""
