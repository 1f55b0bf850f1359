"""What every game must keep, whatever its rules are: one suite for all games of the registry."""
