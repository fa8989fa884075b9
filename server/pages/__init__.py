"""The pages that people use: rendered here, with small scripts, and nothing from elsewhere."""
