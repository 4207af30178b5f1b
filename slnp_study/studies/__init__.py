"""The studies of the replication, one file each. `STUDIES` lists them by name."""

from slnp_study.studies import (
    choices,
    dimensions,
    forensics,
    learning,
    replication,
    rivals,
    tuning,
)

<<<<<<< HEAD
_ALL = (replication, ablation, tuning, choices, rivals, learning, dimensions, forensics)
#: By the name that a study's records add to that of the data set.
=======
_ALL = (replication, tuning, choices, rivals, learning, dimensions)
#: By the name that a study's records add to the data set's.
>>>>>>> main
STUDIES = {module.STUDY.name: module.STUDY for module in _ALL}
