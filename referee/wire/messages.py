"""Protocol 1: the messages between the referee and a bot, as models; their JSON Schema is generated from here.

One JSON object on each line. Both sides ignore unknown fields. A bot ignores unknown message types; from a bot, an unknown type is
malformed.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from referee.wire.constants import MOST_SHAPES, NAME_LENGTH, PROTOCOL, SAY_LENGTH


class Message(BaseModel):
    """Base of all messages: exact types, unknown fields ignored, frozen."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)


class ClockLimits(Message):
    """The time control, in seconds; null is no limit."""

    kind: Literal["wall", "cpu", "fair"] = Field(description="how time is measured")
    startup: float | None = Field(description="from the start of the program to `ready`, outside the bank")
    move: float | None = Field(description="one answer")
    bank: float | None = Field(description="all answers of the game together")
    increment: float = Field(description="added to the bank after each answer")


class Start(Message):
    """To a bot, once, first: which game, which seat, which settings."""

    type: Literal["start"]
    protocol: int = Field(ge=PROTOCOL, le=PROTOCOL, description="the version of this protocol, 1")
    game: str = Field(description="name of the game")
    version: int = Field(description="version of the game's rules, raised whenever a recorded game would change")
    rules: str = Field(description="the rule set")
    seat: str = Field(description="the role that the bot plays")
    settings: dict[str, Any] = Field(description="all settings of the game")
    clock: ClockLimits
    seed: int = Field(description="for the bot's own randomness; differs for every seat and match, from 0 to 2**53 - 1")
    match: str = Field(description="an opaque name of the match")


class NoticeText(Message):
    """Something that the bot should know about its last answer."""

    code: str
    text: str


class TimeLeft(Message):
    """What is left when the question is sent, in seconds; null is no limit."""

    move: float | None
    bank: float | None


class Turn(Message):
    """To a bot: a question. The answer carries the same `turn`."""

    type: Literal["turn"]
    turn: int = Field(ge=0, description="the number of steps completed so far")
    state: dict[str, Any] = Field(description="what the seat may see")
    notices: list[NoticeText]
    left: TimeLeft


class End(Message):
    """To a bot, once, last; then its stdin closes and it has a second to leave."""

    type: Literal["end"]
    result: dict[str, Any] = Field(description="reason, winner, scores, text and the number of steps")


class Ready(Message):
    """From a bot, once, first."""

    type: Literal["ready"]
    protocol: int = Field(ge=PROTOCOL, le=PROTOCOL, description="the version of this protocol, 1")
    name: str | None = Field(default=None, description=f"what the bot calls itself; cut after {NAME_LENGTH} characters")


Point = Annotated[list[float], Field(min_length=2, max_length=2)]
Color = str


class Line(Message):
    """A straight line between two points, in cells."""

    shape: Literal["line"]
    start: Point
    end: Point
    color: Color | None = None


class Rect(Message):
    """A rectangle between two opposite corners, in cells."""

    shape: Literal["rect"]
    start: Point
    end: Point
    color: Color | None = None


class Text(Message):
    """A text at a point."""

    shape: Literal["text"]
    at: Point
    text: str
    color: Color | None = None


class Cells(Message):
    """Single cells, marked."""

    shape: Literal["cells"]
    cells: list[Annotated[list[int], Field(min_length=2, max_length=2)]]
    color: Color | None = None


Shape = Annotated[Line | Rect | Text | Cells, Field(discriminator="shape")]


class Move(Message):
    """From a bot: the answer to a question."""

    type: Literal["move"]
    turn: int = Field(ge=0, description="the turn that was asked")
    move: dict[str, Any] = Field(description="what the seat does, as its game says; {} is to do nothing where that is allowed")
    say: str | None = Field(default=None, description=f"a remark for spectators; cut after {SAY_LENGTH} characters")
    draw: list[Shape] | None = Field(default=None, description=f"shapes for spectators, over the board; dropped above {MOST_SHAPES}")


TO_BOT = (Start, Turn, End)
FROM_BOT = (Ready, Move)
__all__ = ["FROM_BOT", "TO_BOT", "End", "Move", "Ready", "Start", "Turn", "ValidationError"]


def json_schema() -> dict[str, Any]:
    """The JSON Schema of every message, by direction."""
    to_bot: TypeAdapter[Message] = TypeAdapter(Start | Turn | End)
    from_bot: TypeAdapter[Message] = TypeAdapter(Ready | Move)
    return {"protocol": PROTOCOL, "to_bot": to_bot.json_schema(), "from_bot": from_bot.json_schema()}


if __name__ == "__main__":
    import json

    print(json.dumps(json_schema(), indent=2))  # noqa: T201 - the way in which the shipped schema is made
