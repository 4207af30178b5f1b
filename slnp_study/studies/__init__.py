"""The studies of the replication, one file each; `STUDIES` lists them by name."""

from slnp_study.studies import ablation, choices, replication, tuning

#: By the name that a study's records add to that of the data set.
STUDIES = {study.STUDY.name: study.STUDY for study in (replication, ablation, tuning, choices)}
