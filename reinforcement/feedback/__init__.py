"""Answers that are improved by the feedback of a service's users."""
