"""Whoever browses: people, scripts and language models, each a `browser.policy.Policy`."""
