"""The studies of the replication, one file each."""
