"""A hunter that was trained: a linear policy. ``train.py`` makes its weights."""

from __future__ import annotations

import policies  # type: ignore[import-not-found]  # it is beside this program

from sdk.env import policy_bot

weights = policies.load("hunter")


def linear(seen: policies.Floats) -> int:
    return int(policies.hunter(weights, seen))


if __name__ == "__main__":
    policy_bot(linear, seat="hunter").main()
