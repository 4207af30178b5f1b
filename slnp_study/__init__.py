"""The replication: the paper's numbers, its protocol, the studies, their records and statistics."""
