"""The JSON API of an arena. FastAPI describes it at /api/openapi.json, from the signatures and models here.

No annotation here is a string, as FastAPI reads them at run time.
"""

import contextlib
import re
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query
from fastapi.routing import APIRoute
from fastapi.security import HTTPBearer
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Route

from referee.arena import api_models as models
from referee.arena.arena import OpenArena
from referee.arena.players_version import PlayersVersions
from referee.arena.staff_views import before
from referee.arena.tokens import Holder
from referee.arena.uploads import FULL, Uploads, bounded, full
from referee.arena.versions import ACCEPTED, QUEUED, STAFF, HandIn
from referee.arena.views import ArenaViews
from referee.errors import UsageError
from referee.replay.paths import log_path
from referee.support.files import open_regular
from referee.support.times import moment
from referee.support.words import cut
from referee.wire.decode import requirement

#: The most bytes of a log that are sent.
_LOG_BYTES = 4 << 20
_NUMBER = re.compile(r"[1-9]\d{0,11}", re.ASCII)
#: The route of all addresses of the API that no other route has, and the characters of a method that are shown.
_ANY, _SHOWN_METHOD = "/api/{path:path}", 20
#: The cookie of a session.
COOKIE = "arena"
_CLOSE = {"Connection": "close"}
#: What the staff can do, each with what is asked.
ACTIONS: MappingProxyType[str, type[BaseModel] | None] = MappingProxyType(
    {
        "freeze": None,
        "thaw": None,
        "disqualify": models.TeamAsked,
        "requeue": models.SubmissionAsked,
        "activate": models.VersionAsked,
    }
)
_MEANINGS = {
    401: "The token is missing or invalid.",
    403: "This belongs to another team or to the staff.",
    404: "Not found.",
    408: "The request comes too slowly.",
    409: "Submissions are closed.",
    413: "The request is too large.",
    422: "Something in the request is wrong.",
    429: "Too many versions within a day, or uploads at once. Retry-After has the seconds to wait.",
    503: "The store can't be read or written now. Retry-After has the seconds to wait.",
    507: "The server's disk is full.",
}
_PARTS = {"file": {"type": "string", "contentMediaType": "application/octet-stream"}, "note": {"type": "string"}}
_FORM = {"multipart/form-data": {"schema": {"type": "object", "properties": _PARTS, "required": ["file"]}}}


class _BoundedRoute(APIRoute):
    """A route that reads no body longer or slower than ``bounded`` allows."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handler = super().get_route_handler()

        async def answer(request: Request) -> Response:
            try:
                return await handler(bounded(request) if self.body_field else request)
            except HTTPException as error:
                # JSON that nests too deeply, or bytes that are not text.
                raise no_object() if error.status_code == 400 else error from None

        return answer


def no_object() -> HTTPException:
    """Return the error for a body that is not a JSON object."""
    return HTTPException(422, "The request is not a JSON object.", _CLOSE)


def wrong(errors: Sequence[Any], outer: int = 0) -> HTTPException:
    """Return the error with the first problem of a validation. The first ``outer`` parts of its location are not the model's."""
    if errors[0]["type"] in ("json_invalid", "model_attributes_type"):
        return no_object()
    place = ".".join(map(str, errors[0]["loc"][outer:])) or "The request"
    text = requirement(errors[0]["msg"])
    if errors[0]["type"] == "string_pattern_mismatch":
        text = "must not have the character NUL"
    if errors[0]["type"] == "string_too_long":
        text += f", but has {len(errors[0]['input']):,}"
    return HTTPException(422, f"{place}: {text}." if text == errors[0]["msg"] else f"{place} {text}.")


def unauthorized(text: str) -> HTTPException:
    """Return the error for a request without a valid token."""
    return HTTPException(401, text, {"WWW-Authenticate": "Bearer", **_CLOSE})


def visitor(request: Request) -> Holder | None:
    """Return the holder of a request's token, None without one. HTTPException 401 for an invalid token."""
    api: Api = request.app.state.api
    return api.holder(request)


Visitor = Annotated[Holder | None, Depends(visitor)]


def authenticated(holder: Visitor, _: Annotated[object, Depends(HTTPBearer(auto_error=False, scheme_name="token"))]) -> Holder:
    """Return the holder of a request's token. HTTPException 401 without one."""
    if holder is None:
        raise unauthorized("This needs a token: Authorization: Bearer TOKEN.")
    return holder


Authenticated = Annotated[Holder, Depends(authenticated)]


def staff(holder: Authenticated) -> None:
    """Raise HTTPException unless the holder is the staff."""
    if not holder.is_staff:
        raise HTTPException(403, "This is only for the staff.", _CLOSE)


class Api:
    """Answers the requests of the API, and those of the pages for the same things."""

    def __init__(self, arena: OpenArena, views: ArenaViews, uploads: Uploads, versions: PlayersVersions) -> None:
        self._arena = arena
        self._store = arena.store
        self._views = views
        self._versions = versions
        self._uploads = uploads
        self._routes: Sequence[BaseRoute] = ()

    def router(self) -> APIRouter:
        """Return the routes of the API."""
        # An invalid token is refused everywhere, so that its holder notices.
        made = APIRouter(prefix="/api", route_class=_BoundedRoute, dependencies=[Depends(visitor)], responses=_refusals(401, 422, 503))

        def add(path: str, answer: Callable[..., Any], *statuses: int, method: str = "GET", **options: Any) -> None:
            options["responses"] = {**_refusals(*statuses), **options.get("responses", {})}
            made.add_api_route(path, answer, methods=[method], operation_id=answer.__name__, **options)
            if method == "GET":
                made.add_api_route(path, answer, methods=["HEAD"], include_in_schema=False, **options)

        add("/arena", self.arena)
        add("/standings", self.standings)
        # A team's name may have a slash.
        add("/teams/{team:path}", self.team, 404)
        form = {"requestBody": {"required": True, "content": _FORM}}
        add("/submissions", self.submit, 403, 408, 409, 413, 429, 507, method="POST", status_code=202, openapi_extra=form)
        add("/submissions/{number}", self.submission, 403, 404)
        add("/matches", self.matches)
        add("/matches/{match}", self.match, 404)
        add("/matches/{match}/replay", self.replay, 403, 404, 507, **_bytes("application/gzip"))
        add("/matches/{match}/log/{seat}", self.log, 403, 404, **_bytes("application/octet-stream"))
        for name, body in ACTIONS.items():
            statuses = () if body is None else (404, 408, 413)
            add(f"/staff/{name}", getattr(self, name), 403, 507, *statuses, method="POST", dependencies=[Depends(staff)])
        add("/staff/audit", self.audit, 403, dependencies=[Depends(staff)])
        self._routes = tuple(made.routes)

        def unknown(request: Request) -> None:
            raise self.unanswered(request)

        every = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"]
        made.add_api_route("/{path:path}", unknown, methods=every, include_in_schema=False)
        return made

    def unanswered(self, request: Request) -> HTTPException:
        """Return the error for a request without a route: 404, or 405 if the address answers other methods."""
        is_api = request.url.path.startswith("/api/")
        routes = [route for route in (*self._routes, *request.app.routes) if isinstance(route, Route) and route.path != _ANY]
        matching = [
            route for route in routes if route.path.startswith("/api/") == is_api and route.matches(request.scope)[0] is not Match.NONE
        ]
        able = sorted({method for route in matching for method in route.methods or ()})
        if not able:
            return HTTPException(404, "Unknown address; /api lists all.")
        text = f"This address answers {' and '.join(able)}, not {cut(request.method, _SHOWN_METHOD)}."
        return HTTPException(405, text, {"Allow": ", ".join(able)})

    def holder(self, request: HTTPConnection) -> Holder | None:
        """Return the holder of the token in a request's header or session cookie. HTTPException 401 for an invalid token."""
        header = request.headers.get("authorization")
        if header is None:
            token = request.cookies.get(COOKIE)
            return None if token is None else self._store.tokens.holder(token)
        kind, _, token = header.partition(" ")
        holder = self._store.tokens.holder(token.strip()) if kind.lower() == "bearer" else None
        if holder is None:
            raise unauthorized("The token is not valid; ask the staff for a new one.")
        return holder

    def arena(self, holder: Visitor) -> models.ArenaAnswer:
        """Return the facts about the arena."""
        config, season = self._arena.config, self._arena.config.season
        return models.ArenaAnswer(
            name=self._arena.config.name,
            game=self._arena.config.game.info.name,
            rules=self._arena.config.rules,
            roles=config.seat or "both",
            frozen=self._arena.frozen(is_public=True),
            opens=None if season.opens is None else season.opens.isoformat(),
            closes=None if season.closes is None else season.closes.isoformat(),
            submissions_per_day=season.submissions_per_day,
            max_bytes=season.max_bytes,
            replays=config.visibility.replays,
            logs=config.visibility.logs,
            matches=self._views.played(),
            team=None if holder is None else holder.team,
        )

    def standings(self) -> models.StandingsAnswer:
        """Return the standings."""
        return self._views.standings()

    def team(self, team: str, holder: Visitor) -> models.TeamAnswer:
        """Return a team."""
        return self.get_team(team, holder)

    def get_team(self, name: str, holder: Holder | None, *, is_whole: bool = True) -> models.TeamAnswer:
        """Return what the holder may see of a team, as ``ArenaViews.team``. HTTPException 404 for an unknown team."""
        try:
            return self._views.team(name, sees_all=holder is not None and holder.team in (None, name), is_whole=is_whole)
        except UsageError:
            if name not in self._store.tokens.teams():
                raise HTTPException(404, "There is no such team.") from None
        out = self._store.versions.disqualified().get(name)
        return models.TeamAnswer(team=name, is_reference=False, disqualified=out, versions=[], ratings=[], against=[])

    async def submit(self, request: Request, holder: Authenticated) -> models.SubmissionTaken:
        """Hand in a version: multipart/form-data with the parts file and note."""
        if holder.team is None:
            raise HTTPException(403, "The staff has no team; a team hands in with its own token.", _CLOSE)
        taken = await self._uploads.take(request, holder.team)
        return models.SubmissionTaken(id=taken.number, status=taken.state)

    def submission(self, number: str, holder: Authenticated) -> models.SubmissionAnswer:
        """Return a submission of the holder's team."""
        hand_in = self._submission(number)
        if holder.team not in (None, hand_in.team):
            raise HTTPException(403, "This submission is another team's.")
        facts = {**hand_in.model_dump(), "id": hand_in.number, "status": hand_in.state, "submitted": moment(hand_in.submitted)}
        return models.SubmissionAnswer.model_validate({name: facts[name] for name in models.SubmissionAnswer.model_fields})

    def _submission(self, number: str) -> HandIn:
        hand_in = self._store.versions.handed_in(int(number)) if _NUMBER.fullmatch(number) else None
        if hand_in is None:
            raise HTTPException(404, "There is no such submission.")
        return hand_in

    def matches(self, query: Annotated[models.MatchesQuery, Query()]) -> models.MatchesAnswer:
        """Return matches, the latest first."""
        try:
            return self._views.matches(query)
        except UsageError as error:
            if query.version is None and query.team in self._store.tokens.teams() and not self._store.versions.all(query.team):
                return models.MatchesAnswer(matches=[], next=None)
            raise HTTPException(422, str(error)) from None

    def match(self, match: str) -> models.MatchAnswer:
        """Return a match."""
        return self.get_match(match)[0]

    def get_match(self, key: str) -> tuple[models.MatchAnswer, str]:
        """Return a match, and its replay's path in the arena's folder. HTTPException 404 for an unknown match."""
        match = self._views.match(key)
        if match is None:
            raise HTTPException(404, "There is no such match.")
        return match

    def sees_replay(self, match: models.MatchAnswer, holder: Holder | None) -> bool:
        """Return True if the holder may see the replay of a match."""
        mine = {None, *(seat.team for seat in match.seats.values())}
        return self._arena.config.visibility.replays == "all" or (holder is not None and holder.team in mine)

    def check_replay(self, match: models.MatchAnswer, holder: Holder | None) -> None:
        """Raise HTTPException if the holder may not see the replay of a match."""
        if not self.sees_replay(match, holder):
            if holder is None:
                raise unauthorized("Replays need a token in this arena: Authorization: Bearer TOKEN.")
            raise HTTPException(403, "Replays of other teams can't be seen in this arena.")

    def replay(self, match: str, holder: Visitor) -> Response:
        """Return the players' version of a replay."""
        match_answer, replay = self.get_match(match)
        self.check_replay(match_answer, holder)
        try:
            data = self._versions.get(match_answer.id, self._arena.folder / replay, self._arena.replays).read_bytes()
        except (OSError, EOFError, ValueError) as error:
            raise full() if getattr(error, "errno", 0) in FULL else HTTPException(404, "The replay of this match can't be read.") from None
        name = f'attachment; filename="{match_answer.id}.replay.jsonl.gz"'
        return Response(data, media_type="application/gzip", headers={"Content-Disposition": name})

    def sees_log(self, match: models.MatchAnswer, seat: str, holder: Holder | None) -> bool:
        """Return True if the holder may see the log of a seat."""
        if holder is None or seat not in match.seats:
            return False
        return holder.is_staff or (self._arena.config.visibility.logs == "own" and match.seats[seat].team == holder.team)

    def log(self, match: str, seat: str, holder: Authenticated) -> Response:
        """Return the log of the team's own bot."""
        match_answer, replay = self.get_match(match)
        if seat not in match_answer.seats:
            raise HTTPException(404, "There is no such seat.")
        if not self.sees_log(match_answer, seat, holder):
            raise HTTPException(403, "The log is another team's, or only the staff sees logs in this arena.")
        try:
            with open_regular(log_path(self._arena.folder / replay, seat), self._arena.replays) as file:
                data = file.read(_LOG_BYTES)
        except (OSError, ValueError):
            data = b""
        return Response(data, media_type="application/octet-stream", headers={"Content-Disposition": 'attachment; filename="log.txt"'})

    def freeze(self) -> models.DoneAnswer:
        """Close submissions."""
        with self._done("freeze", {}):
            self._store.season.change(is_frozen=True)
        return models.DoneAnswer(done="Submissions are closed.")

    def thaw(self) -> models.DoneAnswer:
        """Open submissions."""
        with self._done("thaw", {}):
            self._store.season.change(is_frozen=False)
        return models.DoneAnswer(done=self._arena.frozen(is_public=True) or "Submissions are open.")

    def disqualify(self, body: models.TeamAsked) -> models.DoneAnswer:
        """Disqualify a team, so that none of its versions plays."""
        team, reason = body.team, body.reason or "by the staff."
        versions = self._store.versions.all(team)
        if any(version.is_reference for version in versions):
            raise HTTPException(422, f"{team} is a reference; to end its play, remove it from arena.toml, and start the server again.")
        if not (versions or team in self._store.tokens.teams()):
            raise HTTPException(404, "There is no such team.")
        with self._done("disqualify", {"team": team, "reason": reason, **before(self._store, team)}):
            self._store.versions.disqualify(team, reason)
        return models.DoneAnswer(done=f"{team} is disqualified.")

    def requeue(self, body: models.SubmissionAsked) -> models.DoneAnswer:
        """Check a submission again."""
        hand_in = self._submission(str(body.id))
        if hand_in.team in self._store.versions.disqualified():
            raise HTTPException(422, f"{hand_in.team} is disqualified. To reinstate it, activate one of its versions.")
        with self._done("requeue", {"id": hand_in.number, "team": hand_in.team}):
            # The checker may have changed its state meanwhile.
            while self._store.versions.move(STAFF, hand_in, QUEUED, {}) is None:
                hand_in = self._submission(str(body.id))
        return models.DoneAnswer(done=f"Submission {hand_in.number} is checked again.")

    def activate(self, body: models.VersionAsked) -> models.DoneAnswer:
        """Make a version of a team the active one. Reinstate a disqualified team, even one without an accepted version."""
        has_any = any(version.status == ACCEPTED for version in self._store.versions.all(body.team))
        with self._done("activate", {**body.model_dump(), **before(self._store, body.team)}):
            if not has_any and body.team in self._store.versions.disqualified():
                self._store.versions.activate(body.team, admits=True)
                return models.DoneAnswer(done=f"{body.team} is reinstated; it has no accepted version yet.")
            self.make_active(body)
        return models.DoneAnswer(done=f"Version {body.version} of {body.team} is active.")

    def make_active(self, body: models.VersionAsked, *, admits: bool = True) -> None:
        """Make a version of a team the active one, as ``Versions.activate``. HTTPException 404 for an unknown version."""
        self._arena.read_versions()
        try:
            self._arena.activate(body.team, body.version, admits=admits)
        except UsageError as error:
            raise HTTPException(404, str(error)) from None
        self._views.renew()

    def audit(self) -> models.AuditAnswer:
        """Return the actions of the staff."""
        return models.AuditAnswer(
            actions=[
                models.AuditAction(time=moment(entry.time), action=entry.action, details=dict(entry.details))
                for entry in self._store.audit.last()
            ]
        )

    @contextlib.contextmanager
    def _done(self, action: str, details: Mapping[str, object]) -> Iterator[None]:
        """Store an action of the staff and its entry in the log in one transaction, and update the views."""
        with self._store.database.write():
            yield
            self._store.audit.put(action, details)
        self._views.renew()


def _refusals(*statuses: int) -> dict[int | str, dict[str, object]]:
    return {status: {"model": models.ErrorAnswer, "description": _MEANINGS[status]} for status in statuses}


def _bytes(media: str) -> dict[str, Any]:
    """Return the description of a binary answer for FastAPI."""
    content = {media: {"schema": {"type": "string", "contentMediaType": media}}}
    return {"response_class": Response, "responses": {200: {"description": "The bytes.", "content": content}}}
