"""Composes the stages of an answer from settings."""
