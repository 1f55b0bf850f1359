"""The pages of an arena: leaderboard, team, match, hand in, and the staff's. They are made on the server, and work without scripts."""

from __future__ import annotations

from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

from pydantic import BaseModel, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from referee.arena import api_page
from referee.arena.api import ACTIONS, COOKIE, staff, wrong
from referee.arena.api_models import MatchesQuery, VersionAsked
from referee.arena.blame import disputed
from referee.arena.boards import BOARD_SECONDS, BoardReplays
from referee.arena.check_groups import groups
from referee.arena.live import LiveMatches
from referee.arena.rating_chart import chart
from referee.arena.staff_views import last_action, team_lines
from referee.arena.terms import conditions, dates, rules
from referee.arena.uploads import FULL, bounded, full
from referee.arena.versions import ACCEPTED
from referee.pages import page, render
from referee.pages.replay_sites import ReplaySites
from referee.pages.security import new_token

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from starlette.requests import Request
    from starlette.types import ASGIApp, Receive, Scope, Send

    from referee.arena.api import Api
    from referee.arena.api_models import MatchAnswer, StandingsEntry
    from referee.arena.arena import OpenArena
    from referee.arena.players_version import PlayersVersions
    from referee.arena.tokens import Holder
    from referee.arena.uploads import Uploads
    from referee.arena.views import ArenaViews

    Answer = Callable[[Request, Holder | None], Response]

_see = partial(RedirectResponse, status_code=303)
_Body = TypeVar("_Body", bound=BaseModel)
#: The matches of a page, and how long a session lasts, in seconds: more than a season.
_MATCHES, _SESSION_SECONDS = 25, 180 * 86_400
#: The submissions that the staff sees, and how many of the latest ones, and of matches, a team sees beside what it does.
_QUEUE, _LAST = 200, 5
_WATCHED = "watch"
#: Where the scope of a request says why there is no viewer.
_REFUSAL = "referee.refusal"
#: The script of pages with small boards.
_WITH_BOARDS = "arena_live"


class ArenaPages:
    """The pages of an arena, beside its API. ``close`` it after use."""

    def __init__(self, arena: OpenArena, views: ArenaViews, api: Api, uploads: Uploads, versions: PlayersVersions) -> None:
        self._api = api
        self._views = views
        self._arena = arena
        self._store = arena.store
        self._uploads = uploads
        self._live = LiveMatches(arena, views, api)
        self._boards = BoardReplays(arena.replays)
        self._versions = versions
        self._token = new_token()
        self._sites = ReplaySites(self._token, is_public=True, is_framed=True)

    def close(self) -> None:
        """End all work on replays."""
        self._sites.close()

    def routes(self) -> list[Route]:
        """Return the routes of all pages."""
        pages: Mapping[str, Answer] = {
            "/": self._board,
            "/teams/{team:path}": self._team,
            "/matches/{match}": self._match,
            "/submit": self._submit,
            "/submissions/{number}": self._submission,
            "/staff": self._staff,
            "/rules": self._rules,
            "/sign-in": self._signing_in,
            "/api": self._described,
            "/live": self._now,
            "/projector": self._projector,
            "/list": self._listed,
            "/standings": lambda *_: JSONResponse(self._live.standings().to_json()),
            "/replay/{match}/replay": lambda request, holder: self._api.replay(request.path_params["match"], holder),
        }
        return [
            *(Route(path, self._page(answer)) for path, answer in pages.items()),
            Route("/boards/{match}", self._board_replay),
            Route("/submit", self._hand_in, methods=["POST"]),
            Route("/sign-in", self._sign_in, methods=["POST"]),
            Route("/teams/{team:path}/activate", self._activate, methods=["POST"]),
            Route("/staff/{action}", self._act, methods=["POST"]),
            Route("/sign-out", _sign_out, methods=["POST"]),
            Route(f"/{_WATCHED}/{{path:path}}", _unwatched),
            Route("/{path:path}", _asset),
        ]

    def watching(self, app: ASGIApp, names: Iterable[str], *, takes_addresses: bool) -> ASGIApp:
        """Return the application with the viewer of each match beside it; the parameters are those of ``SecurityMiddleware``."""
        self._sites.admit(names, takes_addresses=takes_addresses)

        async def routed(scope: Scope, receive: Receive, send: Send) -> None:
            parts = scope.get("path", "").split("/", 3)
            is_watching = scope["type"] == "http" and scope["method"] in ("GET", "HEAD") and len(parts) == 4 and parts[1] == _WATCHED
            replay = None
            if is_watching:
                try:
                    replay = await run_in_threadpool(self._players_version, parts[2], HTTPConnection(scope).cookies.get(COOKIE))
                except HTTPException as error:
                    scope = {**scope, _REFUSAL: error}
            # The logs of players are beside the arena's own replay; the viewer has none.
            site = None if replay is None else self._sites.open(replay.name, replay, self._versions.folder, ())
            if site is None:
                await app(scope, receive, send)
                return
            path = f"/{self._token}/{parts[3]}"
            await site({**scope, "path": path, "raw_path": path.encode()}, receive, send)

        return routed

    def _players_version(self, key: str, token: str | None) -> Path | None:
        """Return the players' version of a match's replay; None if it can't be read. HTTPException for a match or a visitor without one, and for a
        full disk.
        """
        holder = None if token is None else self._store.tokens.holder(token)
        try:
            match, replay = self._api.get_match(key)
            self._api.check_replay(match, holder)
            return self._versions.get(match.id, self._arena.folder / replay, self._arena.replays)
        except (OSError, EOFError, ValueError) as error:
            if getattr(error, "errno", 0) in FULL:
                raise full() from None
            return None

    def _page(self, answer: Answer) -> Callable[[Request], Any]:
        async def shown(request: Request) -> Response:
            return await run_in_threadpool(lambda: answer(request, self._api.holder(request)))

        return shown

    def _shown(self, name: str, holder: Holder | None, *, status: int = 200, script: str = "arena", **values: Any) -> Response:
        frame = {"arena": self._api.arena(holder), "holder": holder, "has_workshop": self._arena.config.workshop is not None}
        text = render.served(name, {}, base="/", script=script, **frame, **values)
        return HTMLResponse(text, status)

    def refused(self, request: Request, error: HTTPException) -> Response:
        """Return the page that says why something was refused."""
        if error.status_code == 401:
            page = self._shown("arena_sign_in", None, status=401, why=error.detail, whose=None, token="")
        else:
            values = {"title": HTTPStatus(error.status_code).phrase, "text": error.detail}
            page = self._shown("arena_told", self._api.holder(request), status=error.status_code, **values)
        page.headers.update(error.headers or {})
        return page

    def _board(self, request: Request, holder: Holder | None) -> Response:
        entries, trends = self._views.standings().entries, self._views.trends()
        return self._shown(
            "arena_board",
            holder,
            script=_WITH_BOARDS,
            now=self._live.front(holder),
            board_seconds=BOARD_SECONDS,
            rows=self._views.lasting("rows", lambda: _rows(entries, trends)),
            matches=self._views.matches(MatchesQuery(limit=_MATCHES // 2)).matches,
            summary=rules(self._arena.config.game.info.name).summary,
            seats=self._arena.config.seats,
            dates=dates(self._arena.config),
            address=_address(request),
        )

    def _rules(self, request: Request, holder: Holder | None) -> Response:
        config = self._arena.config
        return self._shown(
            "arena_rules", holder, text=rules(config.game.info.name).text, conditions=conditions(config), dates=dates(config)
        )

    def _described(self, request: Request, holder: Holder | None) -> Response:
        described = self._views.lasting("api", lambda: api_page.endpoints(request.app.openapi()))
        return self._shown("arena_api", holder, endpoints=described, address=_address(request))

    def _team(self, request: Request, holder: Holder | None) -> Response:
        name = request.path_params["team"]
        team = self._api.get_team(name, holder, is_whole=False)
        # Other words of an address are ignored, as elsewhere in the web.
        filters = {key: value for key, value in request.query_params.items() if key in ("version", "opponent", "before") and value}
        try:
            query = MatchesQuery.model_validate({**filters, "team": name, "limit": _MATCHES})
        except ValidationError:
            raise HTTPException(422, "version and before must be whole numbers that the arena has.") from None
        page = self._api.matches(query)
        is_own = holder is not None and holder.team in (None, name)
        return self._shown(
            "arena_team",
            holder,
            team=team,
            asked=query,
            matches=page.matches,
            next=page.next,
            more={**filters, "before": page.next},
            is_own=is_own,
            submissions=self._store.versions.hand_ins(name) if is_own else [],
            record=self._views.of_results("record", name, lambda: self._record(name)) if team.versions else "",
            logs=self._logs(holder),
            chart=self._views.of_ratings(name, chart) if team.versions else chart([]),
            placement=self._arena.config.season.placement,
        )

    def _record(self, name: str) -> str:
        against = self._views.against(name)
        # With one role, the other seats are a reference's, whoever the duel is with.
        by_seat = self._views.by_seat(name) if self._arena.config.seat is None else {}
        return render.part("arena_record", against=against, by_seat=by_seat) if against else ""

    def _match(self, request: Request, holder: Holder | None) -> Response:
        match, _ = self._live.match(request.path_params["match"])
        teams = {who.team for who in match.seats.values()}
        notes = {(version.team, version.number): version.note for team in teams for version in self._store.versions.all(team)}
        return self._shown(
            "arena_match",
            holder,
            script=_WITH_BOARDS,
            match=match,
            told=_match_facts(match),
            may_watch=self._api.sees_replay(match, holder),
            board_seconds=BOARD_SECONDS,
            notes={seat: notes.get((who.team, who.version or 0), "") for seat, who in match.seats.items()},
            logs=self._logs(holder),
        )

    def _logs(self, holder: Holder | None) -> Callable[[MatchAnswer], list[str]]:
        """Return what returns the seats of a match whose logs somebody may see."""
        return lambda match: [seat for seat in match.seats if self._api.sees_log(match, seat, holder)]

    def _now(self, request: Request, holder: Holder | None) -> Response:
        return self._shown("arena_live", holder, script=_WITH_BOARDS, matches=self._live.now(holder), board_seconds=BOARD_SECONDS)

    def _seen(self, request: Request) -> tuple[MatchAnswer, Path]:
        return self._live.seen(request.path_params["match"], self._api.holder(request))

    async def _board_replay(self, request: Request) -> Response:
        match, path = await run_in_threadpool(self._seen, request)
        try:
            return Response(await self._boards.get(match, path), media_type="application/gzip")
        except HTTPException:
            # A match that has just begun has nothing to show yet, which is no error.
            if match.ended is None:
                return Response(status_code=204)
            raise

    def _projector(self, *_: object) -> Response:
        config = {"name": self._arena.config.name, "league": True}
        return HTMLResponse(render.served("projector", config, base="/"))

    def _listed(self, request: Request, holder: Holder | None) -> Response:
        """Return the matches for the projector's page."""
        after = request.query_params.get("from", "0")
        if not (after.isascii() and after.isdigit() and len(after) < 13):
            raise HTTPException(422, "from must be a whole number.")
        return JSONResponse(self._live.listed(int(after), holder))

    def _submit(self, request: Request, holder: Holder | None) -> Response:
        team, why = _need_team(holder), ""
        try:
            self._uploads.check(team)
        except HTTPException as error:
            why = error.detail
        return self._shown(
            "arena_submit",
            holder,
            why=why,
            left=self._uploads.left(team),
            address=_address(request),
            submissions=self._store.versions.hand_ins(team, limit=_LAST),
        )

    async def _hand_in(self, request: Request) -> Response:
        holder = await run_in_threadpool(self._api.holder, request)
        taken = await self._uploads.take(request, _need_team(holder))
        return _see(f"/submissions/{taken.number}")

    def _submission(self, request: Request, holder: Holder | None) -> Response:
        submission = self._api.submission(request.path_params["number"], _signed_in(holder))
        team = self._api.get_team(submission.team, holder, is_whole=False)
        version = next((version for version in team.versions if version.version == submission.version), None)
        query = MatchesQuery(team=team.team, version=submission.version, limit=_LAST)
        return self._shown(
            "arena_submission",
            holder,
            one=submission,
            groups=groups(submission.report),
            active=next((version.version for version in team.versions if version.is_active), None),
            is_out=team.disqualified is not None,
            row=version,
            placement=self._arena.config.season.placement,
            matches=self._api.matches(query).matches if submission.status == ACCEPTED and version is not None else [],
        )

    def _staff(self, request: Request, holder: Holder | None) -> Response:
        staff(_signed_in(holder))
        recent = self._views.recent()
        return self._shown(
            "arena_staff",
            holder,
            teams=team_lines(self._store, recent.faults),
            last=last_action(self._store.audit.last(1)),
            submissions=self._store.versions.hand_ins(limit=_QUEUE),
            waiting=self._store.versions.waiting(),
            workers=self._views.workers(),
            paused=self._store.season.now.paused,
            recent=recent,
            disputes=disputed(self._store.disputed),
            actions=self._api.audit().actions,
        )

    def _signing_in(self, request: Request, visitor: Holder | None) -> Response:
        return self._shown("arena_sign_in", visitor, why="", whose=None, token="")

    async def _sign_in(self, request: Request) -> Response:
        """Sign somebody in with the token of a form. The link of an invitation leads to a page that asks first: somebody else may have sent it."""
        form = await _texts(request)
        return await run_in_threadpool(self._answered, request, form.get("token", "").strip(), is_link="link" in form)

    def _answered(self, request: Request, token: str, *, is_link: bool) -> Response:
        if not {"origin", "sec-fetch-site"}.intersection(request.headers):
            # The guard has compared them with this server. Every browser sends one, and a program needs no session.
            raise HTTPException(403, "Sign in on the page of this server.")
        visitor, holder = self._api.holder(request), self._store.tokens.holder(token)
        if holder is None:
            return self._shown(
                "arena_sign_in", visitor, status=401, why="This token is not valid; ask the staff for a new one.", whose=None, token=""
            )
        if visitor is not None and visitor.team != holder.team:
            # A link that somebody else sent must not make a team hand in as another one.
            raise HTTPException(409, f"You are signed in as {visitor.team or 'the staff'}. Sign out, and open the link again.")
        if is_link:
            return self._shown("arena_sign_in", visitor, why="", whose=holder.team or "the staff", token=token)
        response = _see("/staff" if holder.is_staff else "/submit")
        response.set_cookie(COOKIE, token, max_age=_SESSION_SECONDS, httponly=True, samesite="strict", secure=_is_secure(request))
        return response

    async def _activate(self, request: Request) -> Response:
        holder, form = await self._sent(request)
        team = request.path_params["team"]
        if holder.team not in (None, team):
            raise HTTPException(403, "This is another team's.")
        body = _validated(VersionAsked, {"team": team, "version": form.get("version", "")})
        if not holder.is_staff:
            await run_in_threadpool(self._uploads.check_open, team, "The active version stays.")
        await run_in_threadpool(lambda: self._api.activate(body) if holder.is_staff else self._api.make_active(body, admits=False))
        return _see(f"/teams/{quote(team, safe='')}")

    async def _act(self, request: Request) -> Response:
        """Do what the staff's page asks for, as the API does it."""
        holder, form = await self._sent(request)
        staff(_signed_in(holder))
        name = request.path_params["action"]
        if name not in ACTIONS:
            raise HTTPException(404, "There is no such action.")
        body = ACTIONS[name]
        await run_in_threadpool(getattr(self._api, name), *(() if body is None else (_validated(body, form),)))
        return _see("/staff")

    async def _sent(self, request: Request) -> tuple[Holder, dict[str, str]]:
        """Return who sends a form, and its texts."""
        return _signed_in(await run_in_threadpool(self._api.holder, request)), await _texts(request)


async def _texts(request: Request) -> dict[str, str]:
    """Return the texts of a form."""
    async with bounded(request).form(max_files=0, max_fields=10, max_part_size=10_000) as form:
        return {name: value for name, value in form.items() if isinstance(value, str)}


def _rows(entries: Sequence[StandingsEntry], trends: Mapping[str, float]) -> list[tuple[StandingsEntry, str]]:
    """Return the lines of the leaderboard with their cells, which are the same for all visitors."""
    least = min((entry.low for entry in entries), default=0.0)
    wide = max((entry.high for entry in entries), default=1.0) - least or 1.0
    cells = render.macro("arena_board_row", "cells")
    return [(entry, cells(entry, least, wide, trends)) for entry in entries]


def _is_secure(request: Request) -> bool:
    """True if the visitor asks by TLS, perhaps a proxy's."""
    return "https" in (request.url.scheme, request.headers.get("x-forwarded-proto"))


def _address(request: Request) -> str:
    """Return the address of this server as the visitor knows it."""
    return f"{'https' if _is_secure(request) else 'http'}://{request.headers['host']}"


def _signed_in(holder: Holder | None) -> Holder:
    if holder is None:
        raise HTTPException(401, "Sign in first: only teams and the staff see this page.")
    return holder


def _need_team(holder: Holder | None) -> str:
    team = _signed_in(holder).team
    if team is None:
        raise HTTPException(403, "The staff has no team; a team hands in with its own invitation.")
    return team


async def _sign_out(_: Request) -> Response:
    response = _see("/")
    response.delete_cookie(COOKIE, httponly=True, samesite="strict")
    return response


async def _unwatched(request: Request) -> Response:
    raise request.scope.get(_REFUSAL) or HTTPException(404, "The replay of this match can't be read.")


async def _asset(request: Request) -> Response:
    asset = page.asset(request.path_params["path"])
    if asset is None:
        raise HTTPException(404, "There is no such page.")
    return Response(asset.data, media_type=asset.media_type)


def _validated(body: type[_Body], form: Mapping[str, str]) -> _Body:
    """Return what a form asks for."""
    try:
        return body.model_validate_strings(form)
    except ValidationError as error:
        raise wrong(error.errors()) from None


def _match_facts(match: MatchAnswer) -> list[tuple[str, str]]:
    scores = ", ".join(f"{seat} {score:g}" for seat, score in match.scores.items() if score is not None)
    faults = ", ".join(f"{seat} {kind}" for seat, kind in match.faults.items())
    ended = render.when(match.ended) if match.ended else ""
    facts = {"Reason": match.reason, "Steps": f"{match.steps:,}", "Scores": scores, "Faults": faults, "Ended": ended}
    return [(name, text) for name, text in facts.items() if text]
