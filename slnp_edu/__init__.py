"""SLNP, step by step: the module that the book calls."""
