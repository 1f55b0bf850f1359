"""The page about an arena's API for people: every request with its parameters and answers, from the OpenAPI description."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class Field(NamedTuple):
    """A parameter of a request or a field of an answer."""

    name: str
    kind: str
    about: str


class Endpoint(NamedTuple):
    """A request. ``answers`` is the name of its answer with its ``fields``; ``refusals`` are the statuses of errors with their meanings."""

    method: str
    path: str
    about: str
    needs_token: bool
    takes: list[Field]
    answers: str
    fields: list[Field]
    refusals: list[tuple[str, str]]


def endpoints(described: Mapping[str, Any]) -> list[Endpoint]:
    """Return all requests of an OpenAPI description, in its order."""
    schemas = described["components"]["schemas"]
    return [
        _endpoint(method.upper(), path, facts, schemas) for path, methods in described["paths"].items() for method, facts in methods.items()
    ]


def _endpoint(method: str, path: str, facts: Mapping[str, Any], schemas: Mapping[str, Any]) -> Endpoint:
    takes = [Field(each["name"], _kind(each["schema"]), "in the address") for each in facts.get("parameters", ())]
    for media, body in facts.get("requestBody", {}).get("content", {}).items():
        schema = schemas.get(_name(body["schema"]), body["schema"])
        takes += [field._replace(about=field.about or f"in the body, {media}") for field in _fields(schema)]
    answer: Mapping[str, Any] = next((answer for status, answer in facts["responses"].items() if status.startswith("2")), {})
    content: Mapping[str, Any] = answer.get("content", {})
    media = next(iter(content), "")
    name = _name(content[media].get("schema", {})) if media else ""
    refusals = [(status, answer["description"]) for status, answer in facts["responses"].items() if not status.startswith("2")]
    about = str(facts.get("description", ""))
    return Endpoint(method, path, about, bool(facts.get("security")), takes, name or media, _fields(schemas.get(name, {})), refusals)


def _fields(schema: Mapping[str, Any]) -> list[Field]:
    return [Field(name, _kind(part), part.get("description", "")) for name, part in schema.get("properties", {}).items()]


def _name(schema: Mapping[str, Any]) -> str:
    return str(schema.get("$ref", "")).rpartition("/")[2]


def _kind(schema: Mapping[str, Any]) -> str:
    """Return the type of a value in words, such as "integer or null" or "list of StandingsEntry"."""
    if "anyOf" in schema:
        return " or ".join(map(_kind, schema["anyOf"]))
    if "enum" in schema:
        return " or ".join(f'"{value}"' for value in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_kind(schema['items'])}"
    return _name(schema) or str(schema.get("type", "any"))
