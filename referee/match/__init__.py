"""One match: its options, where it begins, who is asked, how answers are judged, and which events follow."""
