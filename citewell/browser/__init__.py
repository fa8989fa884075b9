"""WebGPT's text browser: an environment that people, scripts and models use alike, one command at a time."""
