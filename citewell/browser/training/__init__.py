"""Behaviour cloning: policies that are learnt from demonstrations (WebGPT §3.2)."""
