"""Whoever browses: people, scripts and language models, each a `citewell.browser.policy.Policy`."""
