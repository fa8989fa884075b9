"""Evaluations of whole answers, from the question to the shown text."""
