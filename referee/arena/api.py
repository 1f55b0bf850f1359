"""The JSON API of an arena: one table of its requests, from which come the routes and the description at /api/openapi.json."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import BaseModel, ValidationError
from pydantic.json_schema import models_json_schema
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from referee.arena import api_models as models
from referee.arena.arena import moment
from referee.arena.players_version import players_version
from referee.arena.receipt import bounded
from referee.arena.season_store import QUEUED, Submission
from referee.errors import UsageError
from referee.replay.paths import log_path
from referee.support.files import open_regular
from referee.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from starlette.requests import Request

    from referee.arena.readings import Readings
    from referee.arena.receipt import Receipt
    from referee.arena.season_store import Holder

#: Who may ask: everybody, teams and staff, or staff alone.
ALL, TEAMS, STAFF = "all", "teams", "staff"
#: The most bytes of a log that are sent.
_LOG_BYTES = 4 << 20
_NUMBER = re.compile(r"[1-9]\d{0,11}", re.ASCII)
#: The cookie of a session.
COOKIE = "arena"
_CLOSE = {"Connection": "close"}


class Endpoint(NamedTuple):
    """A request: who may ask it, what it takes and answers. ``answer`` is None for bytes, whose type is ``media``."""

    method: str
    path: str
    name: str
    about: str
    answer: type[BaseModel] | None
    statuses: tuple[int, ...] = ()
    access: str = ALL
    body: type[BaseModel] | None = None
    query: type[BaseModel] | None = None
    media: str = "application/json"
    status: int = 200


ENDPOINTS = (
    Endpoint("GET", "/api/arena", "arena", "The arena, and whether it takes versions.", models.ArenaAnswer),
    Endpoint("GET", "/api/standings", "standings", "The versions that play with their ratings.", models.StandingsAnswer),
    Endpoint("GET", "/api/teams/{team}", "team", "A team: versions, ratings over time, records.", models.TeamAnswer, (404,)),
    Endpoint(
        "POST", "/api/submissions", "submit", "Hand in a version: multipart/form-data with the parts file and note.", models.SubmissionTaken,
        (401, 403, 408, 409, 413, 422, 429, 507), TEAMS, status=202,
    ),
    Endpoint(
        "GET", "/api/submissions/{number}", "submission", "A submission and its check.", models.SubmissionAnswer, (401, 403, 404), TEAMS
    ),
    Endpoint("GET", "/api/matches", "matches", "Matches, the latest first.", models.MatchesAnswer, (422,), query=models.MatchesQuery),
    Endpoint("GET", "/api/matches/{match}", "match", "A match.", models.MatchAnswer, (404,)),
    Endpoint(
        "GET", "/api/matches/{match}/replay", "replay", "The replay of a match, without secrets.", None, (401, 403, 404),
        media="application/gzip",
    ),
    Endpoint(
        "GET", "/api/matches/{match}/log/{seat}", "log", "What the own bot wrote to stderr.", None, (401, 403, 404), TEAMS,
        media="application/octet-stream",
    ),
    Endpoint("POST", "/api/staff/freeze", "freeze", "Take no versions until thaw.", models.DoneAnswer, (401, 403), STAFF),
    Endpoint("POST", "/api/staff/thaw", "thaw", "Take versions again.", models.DoneAnswer, (401, 403), STAFF),
    Endpoint(
        "POST", "/api/staff/disqualify", "disqualify", "Let no version of a team play.", models.DoneAnswer, (401, 403, 404, 408, 413, 422), STAFF,
        models.TeamAsked,
    ),
    Endpoint(
        "POST", "/api/staff/requeue", "requeue", "Check a submission again.", models.DoneAnswer, (401, 403, 404, 408, 413, 422), STAFF,
        models.SubmissionAsked,
    ),
    Endpoint(
        "POST", "/api/staff/activate", "activate", "Make a version the active one; a disqualified team is admitted again.",
        models.DoneAnswer, (401, 403, 404, 408, 413, 422), STAFF, models.VersionAsked,
    ),
    Endpoint("GET", "/api/staff/audit", "audit", "The actions of the staff.", models.AuditAnswer, (401, 403), STAFF),
)  # fmt: skip


class Asked(NamedTuple):
    """A request that was let through: its parts, and who asks."""

    request: Request
    holder: Holder | None
    #: The body or the query, checked.
    given: Any

    @property
    def path(self) -> Mapping[str, str]:
        """The parameters of the path."""
        found: dict[str, str] = self.request.path_params
        return found


class Api:
    """Answers the requests of ``ENDPOINTS``: each has a method of its name."""

    def __init__(self, readings: Readings, receipt: Receipt) -> None:
        self._readings = readings
        self._arena = readings.arena
        self._store = readings.store
        self._receipt = receipt

    def routes(self) -> list[Route]:
        """Return the routes of the API, and that of its description."""
        described = JSONResponse(openapi()).body

        async def description(_: Request) -> Response:
            return Response(described, media_type="application/json")

        return [
            # A team's name may have a slash.
            *(Route(one.path.replace("{team}", "{team:path}"), self._answers(one), methods=[one.method]) for one in ENDPOINTS),
            Route("/api/openapi.json", description),
            Route("/api/{path:path}", _unknown, methods=["GET", "POST", "PUT", "PATCH", "DELETE"]),
        ]

    def holder(self, request: Request) -> Holder | None:
        """Return whose token a request has, in its header or in the cookie of a session. HTTPException 401 for a token that isn't valid."""
        given = request.headers.get("authorization")
        if given is None:
            token = request.cookies.get(COOKIE)
            return None if token is None else self._store.holder(token)
        kind, _, token = given.partition(" ")
        found = self._store.holder(token.strip()) if kind.lower() == "bearer" else None
        if found is None:
            raise _unauthorized("The token is not valid; ask the staff for a new one.")
        return found

    def _answers(self, one: Endpoint) -> Callable[[Request], Any]:
        method = getattr(self, one.name)

        async def answer(request: Request) -> Response:
            holder = await run_in_threadpool(self.holder, request)
            if one.access != ALL and holder is None:
                raise _unauthorized("This needs a token: Authorization: Bearer TOKEN.")
            if one.access == STAFF and holder is not None and not holder.is_staff:
                raise HTTPException(403, "This is for the staff alone.", _CLOSE)
            if one.name == "submit":
                found = await self.submit(request, holder)
            else:
                asked = Asked(request, holder, await _given(one, request))
                found = await run_in_threadpool(method, asked)
            if isinstance(found, Response):
                return found
            return Response(found.model_dump_json(), one.status, media_type="application/json")

        return answer

    def arena(self, asked: Asked) -> BaseModel:
        """Return what the arena is."""
        config, season = self._arena.config, self._arena.config.season
        return models.ArenaAnswer(
            name=self._arena.league.name,
            game=self._arena.league.game,
            rules=self._arena.league.rules,
            roles=config.seat or "both",
            frozen=self._receipt.refusal(),
            opens=None if season.opens is None else season.opens.isoformat(),
            closes=None if season.closes is None else season.closes.isoformat(),
            submissions_per_day=season.submissions_per_day,
            max_bytes=season.max_bytes,
            replays=config.visibility.replays,
            logs=config.visibility.logs,
            matches=self._readings.played(),
            team=None if asked.holder is None else asked.holder.team,
        )

    def standings(self, _: Asked) -> BaseModel:
        """Return the standings."""
        return self._readings.standings()

    def team(self, asked: Asked) -> BaseModel:
        """Return a team."""
        found = self._readings.team(asked.path["team"], asked.holder)
        if found is None:
            raise HTTPException(404, "There is no such team.")
        return found

    async def submit(self, request: Request, holder: Holder | None) -> BaseModel:
        """Queue what a team hands in."""
        if holder is None or holder.team is None:
            raise HTTPException(403, "The staff has no team; a team hands in with its own token.", _CLOSE)
        taken = await self._receipt.take(request, holder.team)
        return models.SubmissionTaken(id=taken.number, status=taken.status)

    def submission(self, asked: Asked) -> BaseModel:
        """Return a submission of the own team."""
        found = self._submission(asked.path["number"])
        if asked.holder is None or asked.holder.team not in (None, found.team):
            raise HTTPException(403, "This submission is another team's.")
        return submission_answer(found)

    def _submission(self, number: str) -> Submission:
        found = self._store.submission(int(number)) if _NUMBER.fullmatch(number) else None
        if found is None:
            raise HTTPException(404, "There is no such submission.")
        return found

    def matches(self, asked: Asked) -> BaseModel:
        """Return matches."""
        try:
            return self._readings.matches(asked.given)
        except UsageError as error:
            raise HTTPException(422, str(error)) from None

    def match(self, asked: Asked) -> BaseModel:
        """Return a match."""
        return self.found_match(asked.path["match"])[0]

    def found_match(self, key: str) -> tuple[models.MatchAnswer, str]:
        """Return a match, and its replay's path in the arena's folder. HTTPException 404 if there is none."""
        found = self._readings.match(key)
        if found is None:
            raise HTTPException(404, "There is no such match.")
        return found

    def check_replay(self, match: models.MatchAnswer, holder: Holder | None) -> None:
        """Raise HTTPException if somebody may not see the replay of a match."""
        if self._arena.config.visibility.replays == "all" or (holder is not None and holder.is_staff):
            return
        if holder is None:
            raise _unauthorized("Replays need a token in this arena: Authorization: Bearer TOKEN.")
        if holder.team not in {seat.team for seat in match.seats.values()}:
            raise HTTPException(403, "Replays of other teams can't be seen in this arena.")

    def replay(self, asked: Asked) -> Response:
        """Return the players' version of a replay."""
        match, replay = self.found_match(asked.path["match"])
        self.check_replay(match, asked.holder)
        try:
            data = players_version(self._arena.folder / replay, self._arena.replays)
        except (OSError, EOFError, ValueError):
            raise HTTPException(404, "The replay of this match can't be read.") from None
        name = f'attachment; filename="{match.id}.replay.jsonl.gz"'
        return Response(data, media_type="application/gzip", headers={"Content-Disposition": name})

    def sees_log(self, match: models.MatchAnswer, seat: str, holder: Holder | None) -> bool:
        """True if somebody may see the log of a seat."""
        if holder is None or seat not in match.seats:
            return False
        return holder.is_staff or (self._arena.config.visibility.logs == "own" and match.seats[seat].team == holder.team)

    def log(self, asked: Asked) -> Response:
        """Return the log of the own bot."""
        match, replay = self.found_match(asked.path["match"])
        seat = asked.path["seat"]
        if seat not in match.seats:
            raise HTTPException(404, "There is no such seat.")
        if not self.sees_log(match, seat, asked.holder):
            raise HTTPException(403, "The log is another team's, or logs are for the staff alone in this arena.")
        try:
            with open_regular(log_path(self._arena.folder / replay, seat), self._arena.replays) as file:
                data = file.read(_LOG_BYTES)
        except (OSError, ValueError):
            data = b""
        return Response(data, media_type="application/octet-stream", headers={"Content-Disposition": 'attachment; filename="log.txt"'})

    def freeze(self, _: Asked) -> BaseModel:
        """Take no versions."""
        self._store.set_fact("frozen", True)
        return self._done("freeze", {}, "The arena takes no versions.")

    def thaw(self, _: Asked) -> BaseModel:
        """Take versions."""
        self._store.set_fact("frozen", False)
        return self._done("thaw", {}, self._receipt.refusal() or "The arena takes versions.")

    def disqualify(self, asked: Asked) -> BaseModel:
        """Let no version of a team play."""
        team, reason = asked.given.team, asked.given.reason or "by the staff."
        own = self._store.versions(team)
        if any(one.is_reference for one in own) or not (own or team in self._store.invited()):
            raise HTTPException(404, "There is no such team.")
        self._store.disqualify(team, reason)
        return self._done("disqualify", {"team": team, "reason": reason}, f"{team} is disqualified.")

    def requeue(self, asked: Asked) -> BaseModel:
        """Check a submission again."""
        found = self._submission(str(asked.given.id))
        self._store.set_submission(found.number, QUEUED, {})
        return self._done("requeue", {"id": found.number, "team": found.team}, f"Submission {found.number} is checked again.")

    def activate(self, asked: Asked) -> BaseModel:
        """Make a version of a team the active one."""
        team, number = asked.given.team, asked.given.version
        self.make_active(team, number)
        return self._done("activate", {"team": team, "version": number}, f"Version {number} of {team} is active.")

    def make_active(self, team: str, number: int) -> None:
        """Make a version of a team the active one; a disqualified team is admitted again. HTTPException 404 if there is none."""
        self._arena.versions = self._store.versions()
        try:
            self._arena.activate(team, number)
        except UsageError as error:
            raise HTTPException(404, str(error)) from None
        self._store.readmit(team)
        self._readings.renew()

    def audit(self, _: Asked) -> models.AuditAnswer:
        """Return the actions of the staff."""
        return models.AuditAnswer(
            actions=[models.AuditAction(time=moment(one.time), action=one.action, details=dict(one.details)) for one in self._store.audit()]
        )

    def _done(self, action: str, details: dict[str, Any], text: str) -> BaseModel:
        self._store.put_audit(action, details)
        self._readings.renew()
        return models.DoneAnswer(done=text)


def submission_answer(found: Submission) -> models.SubmissionAnswer:
    """Return a submission as the API answers it."""
    return models.SubmissionAnswer.model_validate(
        {
            "id": found.number,
            "team": found.team,
            "version": found.version,
            "status": found.status,
            "note": found.note,
            "submitted": moment(found.time),
            "report": dict(found.report),
        }
    )


async def _given(one: Endpoint, request: Request) -> Any:
    """Return the checked body or query of a request. HTTPException 413 or 422 says what is wrong."""
    try:
        if one.query is not None:
            return one.query.model_validate(dict(request.query_params))
        if one.body is None:
            return None
        return one.body.model_validate(json.loads(await bounded(request).body()))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "The request"
        raise HTTPException(422, f"{place}: {first['msg']}.") from None
    except (ValueError, RecursionError):
        raise HTTPException(422, "The request is no JSON object.", _CLOSE) from None


async def _unknown(_: Request) -> Response:
    raise HTTPException(404, "There is no such address; /api/openapi.json lists all.")


def _unauthorized(text: str) -> HTTPException:
    return HTTPException(401, text, {"WWW-Authenticate": "Bearer", **_CLOSE})


def openapi() -> dict[str, Any]:
    """Return the description of the API, OpenAPI 3.1."""
    used = {one for each in ENDPOINTS for one in (each.answer, each.body) if one is not None} | {models.ErrorAnswer}
    _, schemas = models_json_schema(
        [(one, "serialization") for one in sorted(used, key=lambda one: one.__name__)], ref_template="#/components/schemas/{model}"
    )
    paths: dict[str, Any] = {}
    for one in ENDPOINTS:
        paths.setdefault(one.path, {})[one.method.lower()] = _operation(one)
    return {
        "openapi": "3.1.0",
        "info": {"title": "A referee's arena", "version": __version__},
        "paths": paths,
        "components": {
            "schemas": schemas["$defs"],
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(one: Endpoint) -> dict[str, Any]:
    schema = _ref(one.answer) if one.answer is not None else {"type": "string", "contentMediaType": one.media}
    error = {"content": {"application/json": {"schema": _ref(models.ErrorAnswer)}}}
    parameters = [{"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in re.findall(r"{(\w+)}", one.path)]
    if one.query is not None:
        found = one.query.model_json_schema()["properties"]
        parameters += [{"name": name, "in": "query", "required": False, "schema": each} for name, each in found.items()]
    told: dict[str, Any] = {
        "operationId": one.name,
        "summary": one.about,
        "parameters": parameters,
        "responses": {
            str(one.status): {"description": one.about, "content": {one.media: {"schema": schema}}},
            **{str(status): {"description": _MEANINGS[status], **error} for status in one.statuses},
        },
    }
    if one.access != ALL:
        told["security"] = [{"token": []}]
    if one.name == "submit":
        parts = {"file": {"type": "string", "contentMediaType": "application/octet-stream"}, "note": {"type": "string"}}
        given: dict[str, Any] = {"multipart/form-data": {"schema": {"type": "object", "properties": parts, "required": ["file"]}}}
        told["requestBody"] = {"required": True, "content": given}
    elif one.body is not None:
        told["requestBody"] = {"required": True, "content": {"application/json": {"schema": _ref(one.body)}}}
    return told


def _ref(model: type[BaseModel]) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{model.__name__}"}


_MEANINGS = {
    401: "There is no token, or it is not valid.",
    403: "It belongs to others.",
    404: "There is no such thing.",
    408: "The file comes too slowly.",
    409: "The arena takes no versions now.",
    413: "The file is too large.",
    422: "Something in the request is wrong.",
    429: "Too many versions within a day. Retry-After has the seconds to wait.",
    507: "The server's disk is full.",
}
