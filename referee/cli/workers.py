"""Where many matches are played: the options of the commands that play them, and the workers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from referee.cli.app import say
from referee.errors import UsageError
from referee.wire.escape import escape

if TYPE_CHECKING:
    from collections.abc import Mapping

    from referee.league.local import Pool
    from referee.league.store import Store
    from referee.league.values import Team
    from referee.league.worker import Terms

Slots = Annotated[
    int | None,
    typer.Option(
        "--slots", metavar="N", help="How many matches to play at once.  (default: as many as cores and memory allow)", show_default=False
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="ADDRESS",
        help="Play on the workers of a Dask scheduler, tcp://HOST:8786, or on local:N worker processes of this machine.",
        rich_help_panel="Many machines",
        show_default=False,
    ),
]
TlsCa = Annotated[
    str | None,
    typer.Option(
        "--tls-ca", metavar="FILE", help="The cluster's certificate authority.", rich_help_panel="Many machines", show_default=False
    ),
]
TlsCert = Annotated[
    str | None,
    typer.Option("--tls-cert", metavar="FILE", help="This client's certificate.", rich_help_panel="Many machines", show_default=False),
]
TlsKey = Annotated[
    str | None, typer.Option("--tls-key", metavar="FILE", help="This client's key.", rich_help_panel="Many machines", show_default=False)
]


def tls_files(ca: str | None, cert: str | None, key: str | None) -> dict[str, str]:
    """What Dask calls the three files."""
    given = {"tls_ca_file": ca, "tls_client_cert": cert, "tls_client_key": key}
    found = {name: value for name, value in given.items() if value is not None}
    if found and len(found) < len(given):
        raise UsageError("TLS needs all three of --tls-ca, --tls-cert and --tls-key.")
    for value in found.values():
        if not Path(value).is_file():
            raise UsageError(f"The file {escape(value, 200)} for TLS does not exist.")
    return found


def open_pool(
    terms: Terms,
    teams: Mapping[str, Team],
    replays: Path,
    store: Store,
    slots: int | None,
    cluster: str | None,
    tls: Mapping[str, str],
) -> Pool:
    """The workers for many matches: those of this machine, or of a cluster. A cluster's machines are noted in the store."""
    from referee.league.local import LocalPool, checked_slots

    if cluster is not None:
        from referee.league.cluster import ClusterPool

        if slots is not None:
            raise UsageError("--slots is for this machine; a cluster has as many slots as its workers have threads.")
        return ClusterPool(
            terms,
            teams,
            replays,
            cluster,
            tls=tls,
            on_host=lambda host: store.put_host(host.name, host.score, host.level),
            on_note=say,
        )
    from referee.isolation.choose import choose

    isolation = choose(terms.isolation, terms.limits)
    for note in isolation.notes:
        say(f"note: {note}")
    return LocalPool(terms, teams, replays, checked_slots(slots, terms.limits))
