"""The meanings of the codes that users see: faults, notices, outcomes and others, for ``referee explain``."""
