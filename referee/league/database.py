"""The tables of a league's store. Only this module and ``store`` know SQL."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Float, Index, Integer, MetaData, Table, Text

from referee.tournament.database import required

#: The version of the tables: the major version of the referee that made them. A store of another one is refused.
VERSION = 2
FILE = "league.sqlite"

#: The status of a match.
PLANNED, DONE, STOPPED = "planned", "done", "stopped"


meta = MetaData()
facts = Table("facts", meta, Column("name", Text, primary_key=True), Column("value", Text, nullable=False))
teams = Table(
    "teams",
    meta,
    Column("name", Text, primary_key=True),
    *required(Integer, "position"),
    *required(Text, "players", "hash", "home", "files"),
    Column("forfeit", Text),
)
duels = Table(
    "duels",
    meta,
    Column("number", Integer, primary_key=True, autoincrement=False),
    *required(Integer, "round"),
    *required(Text, "teams"),
    *required(Integer, "start", "variant", "repeat"),
    Column("note", Text),
)
matches = Table(
    "matches",
    meta,
    Column("key", Text, primary_key=True),
    Column("duel", Integer, nullable=False, index=True),
    *required(Integer, "game_number"),
    *required(Text, "seats", "settings"),
    *required(BigInteger, "seed"),
    *required(Text, "status"),
    Column("result", Text),
    Column("seconds", Float),
    Column("host", Text),
    Column("finished", Float),
    Index("matches_by_status", "status", "duel"),
)
voids = Table(
    "voids",
    meta,
    Column("number", Integer, primary_key=True),
    Column("key", Text, nullable=False, index=True),
    *required(Text, "text", "host"),
    *required(Float, "time"),
)
disagreements = Table(
    "disagreements",
    meta,
    Column("number", Integer, primary_key=True),
    *required(Text, "key", "result", "host"),
)
