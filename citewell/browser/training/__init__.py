"""Behavior cloning: training of policies on demonstrations (WebGPT §3.2)."""
