"""Explanations of levels of isolation, of problems of replays, of the results of commands, and of exit statuses."""

from __future__ import annotations

from referee.games.capabilities import CodeText

LEVEL, PROBLEM, DECISION, STATUS, EXIT = "isolation level", "replay problem", "decision", "student's status", "exit status"
_DOCTOR = "`referee doctor` says what this machine lacks for a stronger level. docs/isolation.md describes each level."
_ALTERED = (
    "If you didn't change the file, its writer and this version of the referee disagree: compare the versions in the head of the replay."
)

LEVELS = (
    CodeText(
        "isolated+cgroup",
        LEVEL,
        "The strongest level: each bot runs in a sandbox, and control groups limit, count and freeze its processes.",
        "Nothing to do: this is the level for strangers' programs and for grading.",
    ),
    CodeText(
        "isolated",
        LEVEL,
        "Each bot runs in a sandbox, but without control groups: memory and processor time are counted less exactly.",
        f"Good enough for most matches. {_DOCTOR}",
    ),
    CodeText(
        "limits",
        LEVEL,
        "Bots run without a sandbox: they have limits, but they can read your files.",
        f"Play only programs that you trust. {_DOCTOR}",
    ),
    CodeText(
        "limits+user",
        LEVEL,
        "As `limits`, but each bot runs as a separate user without network. Gradings in a container use it.",
        "Nothing to do. docs/gradescope.md says what it protects.",
    ),
    CodeText(
        "none", LEVEL, "Bots run as ordinary programs with your rights and without limits.", f"Play only programs that you trust. {_DOCTOR}"
    ),
)

PROBLEMS = (
    CodeText(
        "cut",
        PROBLEM,
        "The replay ends early: the referee was killed, the disk was full, or the file was shortened. What was read so far is good.",
        "Play the match again. You can watch the part that is there.",
    ),
    CodeText("state", PROBLEM, "A recorded state differs from the state that the moves give.", _ALTERED),
    CodeText("moves", PROBLEM, "The game doesn't accept a recorded move.", _ALTERED),
    CodeText("notices", PROBLEM, "The recorded notices of a step differ from the notices that the moves give.", _ALTERED),
    CodeText("outcome", PROBLEM, "The recorded outcome differs from the outcome that the moves give.", _ALTERED),
    CodeText("digest", PROBLEM, "The hash in the result doesn't match the lines before it: a line was changed.", _ALTERED),
    CodeText("order", PROBLEM, "The lines of the replay are not in the order in which a match writes them.", _ALTERED),
)

_MORE = "Allow more duels with --duels, or ask for a larger difference with --p1."
DECISIONS = (
    CodeText(
        "better", DECISION, "`referee compare`: bot A is better than bot B.", "Nothing to do. docs/statistics.md says how sure that is."
    ),
    CodeText(
        "worse",
        DECISION,
        "`referee compare`: bot A is worse than bot B.",
        "Take the change back, or find out where it loses: `referee compare --out FOLDER` keeps the replays.",
    ),
    CodeText(
        "no-difference",
        DECISION,
        "`referee compare`: the difference is smaller than the one that --p1 asks for.",
        "Ask for a smaller difference with --p1 0.55; that needs more duels.",
    ),
    CodeText("undecided", DECISION, "`referee compare`: the duels ended before the test could decide.", _MORE),
    CodeText("H0", DECISION, "`referee stats sprt`: A's share of the points is --p0, not --p1.", "Nothing to do: the test is over."),
    CodeText("H1", DECISION, "`referee stats sprt`: A's share of the points is --p1, not --p0.", "Nothing to do: the test is over."),
    CodeText("continue", DECISION, "`referee stats sprt`: the results don't decide yet.", "Play more duels and count again."),
)

STATUSES = (
    CodeText("ok", STATUS, "Everything was played without a fault of the submission.", "Nothing to do."),
    CodeText("faulty", STATUS, "A match ended by the submission's own fault.", "Look up the fault: `referee explain late`, for instance."),
    CodeText("missing", STATUS, "Nothing was submitted.", "Submit a program, or correct the roster."),
    CodeText(
        "refused",
        STATUS,
        "The submission can't be graded; the reason is beside the status.",
        "docs/grading.md says what a submission may hold.",
    ),
)

EXITS = (
    CodeText("0", EXIT, "The command did its work, whoever won the match.", "Nothing to do."),
    CodeText("1", EXIT, "A check failed, or a comparison is undecided.", "The output names what failed."),
    CodeText(
        "2",
        EXIT,
        "The command can't be carried out as written; nothing was started.",
        "The message names the wrong part. `--help` lists the options.",
    ),
    CodeText(
        "3",
        EXIT,
        "A bot can't start: it isn't there, it ended, or it wasn't ready in time.",
        "Start the bot's command by hand. See `referee explain crashed` and `referee explain late`.",
    ),
    CodeText(
        "4",
        EXIT,
        "The referee itself failed, and the match is void: nobody loses.",
        "The message names the cause, such as a full disk. If it asks you to report an error, please do.",
    ),
    CodeText("130", EXIT, "The command was interrupted with Ctrl-C.", "Start it again; `referee league resume` continues a league."),
)
