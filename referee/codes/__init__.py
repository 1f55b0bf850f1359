"""What the codes mean that users meet: faults, notices, outcomes and others, for ``referee explain`` and docs/codes.md."""
