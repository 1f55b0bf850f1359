"""Explanations of Evasion's codes."""

from __future__ import annotations

from referee.games.capabilities import NOTICE, OUTCOME, REFUSAL, VERDICT, CodeText

_NOTHING = "Nothing to do."
_CHECK = "Ask `state.can_build(kind)` before you build; it is true only if the wall can be built, and `.why` is this sentence."

CODES = (
    CodeText(
        "wall-refused",
        NOTICE,
        "The hunter asked for a wall that the rules forbid here. The wall was not built, and the step counted. `reason` in the notice's "
        "data says which rule forbids it.",
        f"Look up the reason: `referee explain cooldown`, for instance. {_CHECK}",
        (
            ("", "The last wall was built less than `cooldown` steps ago: `wall_timer` of the state is not 0."),
            ("", "As many walls stand as `max_walls` allows: name one in `remove`."),
            ("", "The wall would cover the prey or the hunter's next cell."),
        ),
    ),
    CodeText(
        "unknown-wall",
        NOTICE,
        "The hunter asked to remove a wall that does not stand.",
        "Take ids from `walls` of the state. They are never used again, and a wall that is gone keeps no place in the list.",
    ),
    CodeText("wall-built", NOTICE, "The hunter built a wall.", _NOTHING),
    CodeText("wall-removed", NOTICE, "The hunter removed walls.", _NOTHING),
    CodeText(
        "hunter-bounced",
        NOTICE,
        "The hunter bounced from a wall or the border and has a new direction.",
        "`state.hunter_path(k)` tells the next bounces.",
    ),
    CodeText(
        "prey-bounced",
        NOTICE,
        "The prey ran into a wall or the border and has a new direction.",
        "Test the next cell with `state.is_free(x, y)`.",
    ),
    CodeText("captured", NOTICE, "The hunter caught the prey.", _NOTHING),
    CodeText(
        "invalid-command",
        NOTICE,
        "Under `gameserver`, an answer that breaks a rule. It costs the turn and starts the cooldown.",
        "Remove only walls that stand, and move the prey only by one cell to a free one.",
    ),
    CodeText(
        "trapped",
        NOTICE,
        "Under `gameserver`, no path joins hunter and prey any more, or the hunter is shut in. The prey has won.",
        "Test before you build whether the hunter can still reach the prey: `state.after(move).reach('hunter')`.",
    ),
    CodeText("cooldown", REFUSAL, "The last wall was built less than `cooldown` steps ago.", "Wait until `wall_timer` of the state is 0."),
    CodeText(
        "max-walls",
        REFUSAL,
        "As many walls stand as `max_walls` allows.",
        "Name a wall in `remove` of the same answer: removals come first.",
    ),
    CodeText(
        "kind",
        REFUSAL,
        "The rule set does not have this kind of wall.",
        "`state.kinds()` lists them. `classic` has horizontal and vertical walls.",
    ),
    CodeText(
        "occupied",
        REFUSAL,
        "A cell of the wall is already part of another wall.",
        "Leave the span out: the wall is then as long as possible.",
    ),
    CodeText(
        "span",
        REFUSAL,
        "The span does not contain the hunter's own cell.",
        "A span is (first, last): y for a vertical wall, x for the others.",
    ),
    CodeText("off-board", REFUSAL, "The span leaves the board.", "Cells count from 0 to `width` - 1 and to `height` - 1."),
    CodeText("hunter", REFUSAL, "The wall would cover the hunter's next cell.", "Wait a step: the hunter has bounced then."),
    CodeText("prey", REFUSAL, "The wall would cover the prey.", "Give a span that ends before the prey, or wait a step."),
    CodeText(
        "invalid",
        REFUSAL,
        "Under `gameserver`, the wall breaks a rule: its id, its ends, the number of walls, or a cell that is not free.",
        "The text of the notice names the rule.",
    ),
    CodeText(
        "caught",
        OUTCOME,
        "The hunter was near enough to the prey, with no wall between them. Its score is the number of steps.",
        "As the hunter: fewer steps are better. As the prey: `referee analyze` shows when capture became certain.",
    ),
    CodeText(
        "evaded",
        OUTCOME,
        "The step limit was reached, or the prey can evade for ever and the match was adjudicated. The hunter has no score.",
        "As the hunter: build walls that leave the prey less room, and remove those that are in your way. `max_steps` is the limit.",
    ),
    CodeText(
        "adjudicated",
        OUTCOME,
        "The prey can evade for ever, and no wall has changed for `adjudicate_after` steps.",
        "As the hunter: change walls before that. 0 turns adjudication off.",
    ),
    CodeText(
        "prey-timeout", OUTCOME, "The prey was late. The hunter's score is the number of steps so far.", "See `referee explain late`."
    ),
    CodeText(
        "prey-fault",
        OUTCOME,
        "The prey failed. The hunter's score is the number of steps so far.",
        "The fault says why: `referee explain crashed`, for instance.",
    ),
    CodeText("hunter-timeout", OUTCOME, "The hunter was late. It has no score.", "See `referee explain late`."),
    CodeText(
        "hunter-fault", OUTCOME, "The hunter failed. It has no score.", "The fault says why: `referee explain crashed`, for instance."
    ),
    CodeText(
        "trapped",
        OUTCOME,
        "Under `gameserver`, hunter and prey are apart for good. The prey wins, and the hunter has no score.",
        "As the hunter: leave a path to the prey.",
    ),
    CodeText(
        "capture",
        VERDICT,
        "The hunter catches the prey whatever the prey does, if no wall changes any more.",
        "As the hunter: let the walls stand. docs/verdicts.md has more.",
    ),
    CodeText(
        "evade",
        VERDICT,
        "The prey can evade for ever, if no wall changes any more.",
        "As the hunter: change the walls. docs/verdicts.md has more.",
    ),
    CodeText(
        "undecided",
        VERDICT,
        "The position is too large to be decided within the budget.",
        "Ask again when the room is smaller, or with a larger budget.",
    ),
)
