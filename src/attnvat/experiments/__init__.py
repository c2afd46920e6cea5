"""The paper's experiments and ours: what is run, how it is run, and what its records say."""
