"""The database schema, as left by the migrations.

Amounts are credits, whole numbers: one credit is one segment. Times are UTC. Constraints enforced by the database
(checks, uniqueness, append-only) are next to the table that they protect.
"""
