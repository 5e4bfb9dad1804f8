"""Runs the migrations on the connection given by `shared.db.migrate`."""

from alembic import context

from shared.db.tables import metadata

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
