"""Collections in PostgreSQL: pages, words and vectors for any number of services and runs."""
