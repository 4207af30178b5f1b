"""The evidence: the paper's numbers, its protocol, the experiments, their records, statistics."""

import slnp_edu.data.needs  # noqa: F401  first: it says what to install if something is missing
from slnp_edu.evidence.protocol import METHODS, Split, compare, evaluate, random_split

__all__ = ["METHODS", "Split", "compare", "evaluate", "random_split"]
