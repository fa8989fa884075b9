"""Changes of the tables, run by Alembic when a store is opened (https://alembic.sqlalchemy.org)."""
