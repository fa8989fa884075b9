"""The script that Alembic runs: the migrations, in the transaction of the connection that `migrate` gives
it."""

from __future__ import annotations

from alembic import context

context.configure(connection=context.config.attributes["connection"])
with context.begin_transaction():
    context.run_migrations()
