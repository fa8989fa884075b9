"""WebGPT's text browser: one environment for people, scripts and models, one command at a time."""
