"""Choosing among candidate answers."""
