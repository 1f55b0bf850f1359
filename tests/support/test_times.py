"""Times in words."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from referee.support.times import shown_age, shown_time


@pytest.mark.parametrize(
    ("moment", "shown"),
    [
        (0.0, "1970-01-01 00:00 UTC"),
        (1_795_797_659.987, "2026-11-27 16:40 UTC"),
        ("2030-09-01T08:00:00+00:00", "2030-09-01 08:00 UTC"),
        ("2030-09-01T08:00:00.123456+02:00", "2030-09-01 08:00 UTC+02:00"),
        (datetime(2030, 9, 1, 8, 0, 59, tzinfo=timezone(timedelta(hours=-5, minutes=-30))), "2030-09-01 08:00 UTC-05:30"),
    ],
)
def test_a_time_is_shown_to_the_minute_with_its_zone(moment: float | str | datetime, shown: str) -> None:
    assert shown_time(moment) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (-5, "just now"),
        (59, "just now"),
        (60, "1 minute ago"),
        (3_599, "59 minutes ago"),
        (7_200, "2 hours ago"),
        (86_400, "1 day ago"),
        (100_000_000, "1,157 days ago"),
    ],
)
def test_an_age_has_its_largest_unit(seconds: float, shown: str) -> None:
    assert shown_age(1_000.0, 1_000.0 + seconds) == shown
    assert shown_age("1970-01-01T00:16:40+00:00", 1_000.0 + seconds) == shown
