"""Citations: reading marks, correcting them, and checking that references support sentences."""
