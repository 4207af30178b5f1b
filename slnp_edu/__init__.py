"""SLNP, step by step: the module that the book calls."""

from slnp_edu.baselines import LADA, LFDA, LPP, LSDA, MFA, SOLDE
from slnp_edu.slnp import SLNP

__all__ = ["LADA", "LFDA", "LPP", "LSDA", "MFA", "SLNP", "SOLDE"]
