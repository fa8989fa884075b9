"""Judges, which decide whether passages support a claim."""
