"""Who may ask, under which name, from which page."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from referee.pages.security import HEADERS, SecurityMiddleware, new_token


def asked(kind: str, headers: list[tuple[str, str]], method: str = "GET", **options: Any) -> dict[str, Any]:
    """What the first answer to a request is."""
    sent: list[dict[str, Any]] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start" if kind == "http" else "websocket.accept", "status": 200, "headers": []})

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": kind, "method": method, "headers": [(name.encode(), value.encode()) for name, value in headers]}
    asyncio.run(SecurityMiddleware(app, **options)(scope, None, send))  # type: ignore[arg-type]
    return sent[0]


def is_let_in(answer: dict[str, Any]) -> bool:
    return answer["type"] == "websocket.accept" or answer.get("status") == 200


@pytest.mark.parametrize("host", ["127.0.0.1:8300", "localhost:8300", "LOCALHOST", "[::1]:8300"])
def test_this_machine_is_called_by_its_names(host: str) -> None:
    assert is_let_in(asked("http", [("host", host)]))


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8300", "127.0.0.1.evil.example", "192.168.1.5:8300", "", "[::1", "localhost@evil.example", "0.0.0.0"],
)
def test_a_name_that_is_made_to_point_here_is_refused(host: str) -> None:
    for kind in ("http", "websocket"):
        assert not is_let_in(asked(kind, [("host", host)]))


def test_two_names_or_none_are_refused() -> None:
    assert not is_let_in(asked("http", []))
    assert not is_let_in(asked("http", [("host", "localhost"), ("host", "evil.example")]))


def test_where_others_may_come_numbers_and_own_names_are_good() -> None:
    for host, is_good in (("192.168.1.5:8300", True), ("lab-3:8300", True), ("[fe80::1]:8300", True), ("evil.example", False)):
        assert is_let_in(asked("http", [("host", host)], names=["lab-3"], takes_addresses=True)) == is_good


@pytest.mark.parametrize(
    ("origin", "is_good"),
    [("http://127.0.0.1:8300", True), ("http://127.0.0.1:9999", False), ("http://evil.example", False), ("null", False), ("", False)],
)
def test_a_socket_is_opened_by_our_own_page_alone(origin: str, is_good: bool) -> None:
    headers = [("host", "127.0.0.1:8300"), ("origin", origin)]
    assert is_let_in(asked("websocket", headers)) == is_good
    assert is_let_in(asked("http", headers, "POST")) == is_good
    assert is_let_in(asked("http", headers, "GET"))


def test_a_browser_that_says_cross_site_is_refused() -> None:
    headers = [("host", "127.0.0.1:8300"), ("sec-fetch-site", "cross-site")]
    assert not is_let_in(asked("http", headers, "POST"))
    assert not is_let_in(asked("websocket", headers))


def test_every_answer_has_the_headers() -> None:
    for host in ("127.0.0.1", "evil.example"):
        answer = asked("http", [("host", host)])
        assert set(HEADERS) <= set(answer["headers"])


def test_tokens_are_long_and_never_the_same() -> None:
    assert len({new_token() for _ in range(100)}) == 100
    assert len(new_token()) >= 22
