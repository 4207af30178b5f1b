"""The studies of the replication, one file each; `STUDIES` lists them by name."""

from slnp_study.studies import (
    ablation,
    choices,
    dimensions,
    learning,
    replication,
    rivals,
    tables,
    tuning,
)

_ALL = (replication, ablation, tuning, choices, rivals, learning, dimensions, tables)
#: By the name that a study's records add to that of the data set.
STUDIES = {module.STUDY.name: module.STUDY for module in _ALL}
