"""The work of the service: which question runs when, and what its followers see."""
