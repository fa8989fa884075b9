"""Learning from feedback by reinforcement: PPO, PPO-ptx, GRPO and RLOO (InstructGPT §3.5, WebGPT §3.2)."""
