"""Explanations of faults and of their causes."""

from __future__ import annotations

from referee.games.capabilities import CodeText

FAULT, CAUSE = "fault", "cause"
PYTHON, JAVASCRIPT, JAVA, C, RUST, GO = "Python", "JavaScript", "Java", "C and C++", "Rust", "Go"

FAULTS = (
    CodeText(
        "late",
        FAULT,
        "No whole answer came in time: within the start-up limit, the move limit, the bank, or the wall-clock guard of --clock cpu.",
        "Flush after each line. Compare your own clock with `left` of the question, and answer when half of it is used. Prepare slow things "
        "before `ready`: start-up has a limit of its own. If the fault names a line of your bot, start there. --move-time and --bank set "
        "other limits; --clock cpu counts processor time instead of time on the wall.",
        (
            ("", "The answer is in the program's own buffer: it was printed, but not flushed."),
            ("", "The line has no newline at its end. The referee waits for the newline."),
            ("", "A search has no time check, or a loop has no end in some positions."),
            (PYTHON, "print() without flush=True. Imports such as numpy, or tables made at the start, need more than the start-up limit."),
            (
                JAVASCRIPT,
                (
                    "All of stdin is read first (fs.readFileSync(0)), which waits for the end of the match. Answer in the handler of `line` of "
                    "the module readline."
                ),
            ),
            (
                JAVA,
                (
                    "A PrintWriter or BufferedWriter without flush(). The first moves run before the compiler of the virtual machine has "
                    "compiled them: do some work before `ready`."
                ),
            ),
            (
                C,
                (
                    "printf() to a pipe fills a buffer: call fflush(stdout) after each line, or use std::endl. A buffer that is shorter than "
                    "the question: fgets() then returns half a line."
                ),
            ),
            (RUST, "BufWriter or print!() without flush(). A build without --release can be 20 times as slow."),
            (GO, "bufio.Writer without Flush(). bufio.Scanner ends at a line of 64 KiB: give it a larger buffer."),
        ),
    ),
    CodeText(
        "crashed",
        FAULT,
        "The bot ended, or closed its stdin or stdout, before the match was over.",
        "Read the log beside the replay: it holds everything that the bot wrote to stderr, with its error report. The fault quotes the line "
        "that states the error and, where it is known, the line of your own file. In a sandbox a bot has only the files that it brought: "
        "make it a folder if it needs others.",
        (
            ("", "An error that nothing catches; it often happens only in rare positions: no walls, most walls, the last step."),
            ("", "The program answers one question and ends. It must read lines until its input ends."),
            ("", "A file or a library is missing where the bot runs."),
            (
                PYTHON,
                "An exception, such as IndexError for an empty list. sys.exit() in a helper. A module beside a bot that is a single file.",
            ),
            (
                JAVASCRIPT,
                "An exception, a rejected promise without catch(), or process.exit(). Node.js ends when nothing waits for input any more.",
            ),
            (
                JAVA,
                'An exception in main(), such as NoSuchElementException of a Scanner. A class path that is missing: write "java -cp . Bot".',
            ),
            (
                C,
                (
                    "A segmentation fault: an index outside an array, or a null pointer. Compile with -g -fsanitize=address,undefined and the "
                    "log names the line."
                ),
            ),
            (RUST, "A panic: unwrap() of None, an index out of range, an overflow in a debug build. RUST_BACKTRACE=1 shows the line."),
            (GO, "A panic: an index out of range, a nil map or pointer. A line that Scanner refuses ends its loop, and main() returns."),
        ),
    ),
    CodeText(
        "exceeded",
        FAULT,
        "The bot exceeded a limit of its sandbox: on memory, on processes and threads, or on what it writes to disk. `cause` says which.",
        "Store less, or clear what you stored when it grows. Start no more threads than you have cores: a match gives a bot one. --limit memory=SIZE, "
        "--limit processes=N and --limit scratch=SIZE set other limits.",
        (
            ("", "A table of positions that only grows."),
            ("", "A library that starts a thread for each core of the machine."),
            (
                PYTHON,
                "lru_cache(maxsize=None) or a dict of all positions. numpy starts threads: set OPENBLAS_NUM_THREADS=1 before the import.",
            ),
            (JAVASCRIPT, "A Map of positions that is never cleared. Start Node.js with --max-old-space-size below the limit."),
            (
                JAVA,
                "The heap may take a quarter of the machine's memory by default: start with -Xmx256m, and -XX:+UseSerialGC for fewer threads.",
            ),
            (C, "Memory that is allocated in each turn and never freed, or fork() in a loop."),
            (RUST, "A Vec or HashMap that only grows. The crate rayon starts a thread for each core: set RAYON_NUM_THREADS=1."),
            (GO, "Goroutines that never end. GOMEMLIMIT=400MiB makes the garbage collector work sooner; GOMAXPROCS=1 saves threads."),
        ),
    ),
    CodeText(
        "malformed",
        FAULT,
        "A line of the bot is not an answer by the protocol: not JSON, the wrong shape, the wrong turn, too long, or out of turn.",
        "Compare the line that the fault quotes with docs/protocol.md. Print everything that is not an answer to stderr. Make answers with a "
        "JSON library. With --on-malformed pass a malformed answer is a pass with a warning, which is useful while you write the bot.",
        (
            ("", "Text for debugging on stdout. Only answers belong there."),
            ("", "`turn` of the answer is not that of the question: an answer to an earlier question, or two answers to one."),
            (
                PYTHON,
                "print(dict) instead of print(json.dumps(dict)): it has single quotes. True where a number belongs. float('nan'). An answer before `import sdk`.",
            ),
            (
                JAVASCRIPT,
                "console.log() for debugging: use console.error(). JSON.stringify() leaves out keys whose value is undefined, and writes null for NaN.",
            ),
            (
                JAVA,
                'JSON made with + : a quotation mark is missing, or a number is written as "1,5" by the locale. Debugging with System.out.',
            ),
            (C, "printf() with a wrong format, an array without its final zero byte, or debugging with std::cout instead of std::cerr."),
            (RUST, "println!() for debugging: use eprintln!(). An Option that serde writes as null; skip_serializing_if leaves it out."),
            (
                GO,
                'Fields without a tag get capital letters: write `json:"turn"`. fmt.Println() for debugging: use fmt.Fprintln(os.Stderr, ...).',
            ),
        ),
    ),
    CodeText(
        "illegal",
        FAULT,
        "The move is well-formed, but the rules of the game count it as a fault. None of the games of this package does: they ignore such a "
        "move and send a notice.",
        "Read in the rules of the game what is allowed, and test a move against the state before you send it.",
        (("", "A move that was chosen for another position: the state of an earlier turn, or a prediction that did not come true."),),
    ),
)

CAUSES = (
    CodeText(
        "time",
        CAUSE,
        "The bot's time was up: by the clock that bills, or by the kernel's cap on processor time.",
        "See `referee explain late`.",
    ),
    CodeText(
        "memory",
        CAUSE,
        "All processes of the bot together used more memory than its limit, or its runtime reported that there was none left.",
        "Store less, or raise the limit with --limit memory=SIZE. See `referee explain exceeded`.",
    ),
    CodeText(
        "processes",
        CAUSE,
        "The bot asked for more processes or threads than its limit and ended because of that. Threads count.",
        "Start fewer threads: libraries often start one for each core of the machine. --limit processes=N sets the limit. See `referee explain exceeded`.",
    ),
    CodeText(
        "disk",
        CAUSE,
        "The bot wrote more to its scratch space, /tmp and /dev/shm, than its limit and ended because of that.",
        "Write less and delete what you don't need. A sandbox has no other place to write to. --limit scratch=SIZE sets the limit.",
    ),
    CodeText(
        "output",
        CAUSE,
        "A line on stdout was longer than its limit, 65,536 bytes by default.",
        "End each answer with a newline, and keep `draw` small. --limit line=SIZE sets the limit.",
    ),
    CodeText(
        "crash",
        CAUSE,
        "The bot ended by itself. `detail` has its exit status or signal and the last lines of its stderr.",
        "See `referee explain crashed`.",
    ),
    CodeText("answer", CAUSE, "The answer was malformed: not JSON, the wrong shape or the wrong turn.", "See `referee explain malformed`."),
    CodeText("rules", CAUSE, "The rules of the game count the move as a fault.", "See `referee explain illegal`."),
    CodeText(
        "left",
        CAUSE,
        "A person, or a program at the other end of a connection, left the match.",
        "Play again. If a program left, its own output says why.",
    ),
)
