"""The studies of the replication, one file each. `STUDIES` lists them by name."""

from slnp_study.studies import (
    choices,
    dimensions,
    forensics,
    learning,
    replication,
    rivals,
    tables,
    tuning,
)

_ALL = (replication, tuning, choices, rivals, learning, dimensions, forensics, tables)
#: By the name that a study's records add to the data set's.
STUDIES = {module.STUDY.name: module.STUDY for module in _ALL}
