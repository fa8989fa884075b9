"""Learning from feedback by reinforcement: PPO and PPO-ptx (InstructGPT §3.5, WebGPT §3.2)."""
