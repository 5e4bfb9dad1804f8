"""Runs the migrations on the connection given by `shared.migrate`."""

from alembic import context

from shared.tables import metadata

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
