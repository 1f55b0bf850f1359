"""``referee bench``: what the referee costs, each figure beside a floor measured in the same run."""
