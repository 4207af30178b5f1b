"""SLNP, step by step: the module that the book calls."""

from slnp_edu.baselines import LFDA, LPP, LSDA, MFA
from slnp_edu.slnp import SLNP

__all__ = ["LFDA", "LPP", "LSDA", "MFA", "SLNP"]
