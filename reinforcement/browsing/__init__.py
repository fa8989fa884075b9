"""PPO in the text browser: one policy browses, and answers from its quotes (WebGPT §3.2 and appendix E)."""
