"""Policies that browse: people, scripts and language models, each a `citewell.browser.policy.Policy`."""
