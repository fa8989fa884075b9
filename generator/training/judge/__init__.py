"""Training of a language model as a judge: how likely yes is to the questions that check answers."""
