"""Explanations of warnings, of what can be wrong with a line of a bot, and of why an answer is missing."""

from __future__ import annotations

from referee.games.capabilities import NOTICE, CodeText

LINE, SILENCE = "wrong line", "missing answer"
_STDERR = "Print to stderr everything that is not an answer."
_LIBRARY = "Make answers with a JSON library."

WARNINGS = (
    CodeText(
        "malformed",
        NOTICE,
        "The last answer was malformed and counted as a pass, because the match is played with --on-malformed pass.",
        "The text of the notice quotes the line and says what is wrong. See the fault of the same name.",
    ),
    CodeText(
        "ignored",
        NOTICE,
        "A part of the last answer was ignored: an unknown key inside `move`, a `say` that is too long, or a `draw` that is too large. The "
        "rest of the answer counts.",
        "Look for a misspelt key. `say` may have 500 characters, `draw` 500 shapes in 20,000 bytes, and the replay keeps 8 MiB of them for "
        "each seat.",
    ),
    CodeText(
        "refused",
        NOTICE,
        "On a page, a person tried a move that the game refuses. Nothing was sent.",
        "Choose another move; the text says what is wrong with this one.",
    ),
)

#: By the reasons of ``referee.wire``.
LINES = (
    CodeText("not-json", LINE, "The line is not JSON.", f"{_STDERR} {_LIBRARY}"),
    CodeText(
        "not-an-object",
        LINE,
        "The line is JSON, but not an object in braces.",
        'An answer looks like this: {"type":"move","turn":0,"move":{}}.',
    ),
    CodeText(
        "other-type",
        LINE,
        "The object has another `type` than the one that was asked for: `ready` after the start message, `move` after a question.",
        "Answer the start message with `ready`, each question with `move`, and nothing else.",
    ),
    CodeText("no-key", LINE, "The message lacks a key that it needs.", "Add the key that the fault names; docs/protocol.md lists them."),
    CodeText(
        "wrong-value",
        LINE,
        "A key of the message has a value of the wrong type or out of range.",
        "The fault names the key and what it must be.",
    ),
    CodeText(
        "other-turn",
        LINE,
        "The answer carries another turn than its question.",
        "Copy `turn` from the question. If the number is one too small, the bot gave two answers to a question or answered one too late.",
    ),
    CodeText("not-utf8", LINE, "The line is not UTF-8.", "Write UTF-8, or ASCII alone: a JSON library can escape all other characters."),
    CodeText(
        "byte-order-mark",
        LINE,
        "The line starts with a byte order mark.",
        'Write UTF-8 without the mark. In .NET use new UTF8Encoding(false), in Python "utf-8" and not "utf-8-sig".',
    ),
    CodeText(
        "too-deep",
        LINE,
        "The line is nested deeper than 64 levels.",
        "An answer needs three levels: look for a value that contains itself.",
    ),
    CodeText(
        "surrogate",
        LINE,
        "A text holds half of a surrogate pair, which is no character.",
        "Cut texts between characters, not between UTF-16 units.",
    ),
    CodeText("key-twice", LINE, "An object has the same key twice.", _LIBRARY),
    CodeText("too-large", LINE, "A number is too large for a double.", "Look for an overflow, or for infinity written as a number."),
    CodeText(
        "constant",
        LINE,
        "The line holds NaN or Infinity, which JSON doesn't have.",
        "Look for a division by zero, or for an initial best value that was never replaced.",
    ),
    CodeText("too-long", LINE, "A number has more than 4,300 digits.", "Look for an integer that grows without end."),
)

#: By the reasons of ``referee.players``.
SILENCES = (
    CodeText("silent", SILENCE, "The bot wrote nothing before its time was up.", "See `referee explain late`."),
    CodeText(
        "unread",
        SILENCE,
        "The bot did not even read its question before its time was up.",
        "Read a line from stdin before each answer, and don't compute between two questions. See `referee explain late`.",
    ),
    CodeText(
        "unfinished",
        SILENCE,
        "The bot wrote an answer without the newline that ends it.",
        "End each answer with a newline, then flush.",
    ),
    CodeText("early", SILENCE, "The bot wrote to stdout before it was asked.", f"Answer each question once. {_STDERR}"),
    CodeText("overlong", SILENCE, "The bot wrote a line that is longer than its limit.", "See `referee explain output`."),
    CodeText("deaf", SILENCE, "The bot closed its stdin, so it can't be asked.", "Read stdin until it ends, and close nothing."),
    CodeText(
        "unsupervised",
        SILENCE,
        "The supervisor process of the match was killed while this bot was asked. Without a sandbox only a bot of the match could do that.",
        "Kill no processes that you didn't start. Play in a sandbox (--isolation strict) to protect the supervisor.",
    ),
    CodeText("ended", SILENCE, "The program of the bot ended.", "See `referee explain crashed`."),
    CodeText("left", SILENCE, "The person left the match.", "Play again."),
    CodeText("hung-up", SILENCE, "The program at the other end closed its connection.", "Its own output says why."),
    CodeText(
        "raised",
        SILENCE,
        "The bot class, which plays in this process, raised an exception.",
        "The log beside the replay has the traceback.",
    ),
    CodeText("returned", SILENCE, "The bot class, which plays in this process, gave no answer.", "Answer each message of the type `turn`."),
)
