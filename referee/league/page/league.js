// The league as the page knows it, and what follows from its duels.

const SUFFIX = ".replay.jsonl.gz";

/** Points of the row's team against the column's, in standing order. */
export class Crosstable {
  /** @param {number} size */
  constructor(size) {
    this.size = size;
    this.points = new Float32Array(size * size);
    this.counts = new Uint32Array(size * size);
  }

  /** @param {number} row @param {number} column @param {number} points */
  add(row, column, points) {
    this.points[row * this.size + column] += points;
    this.counts[row * this.size + column] += 1;
  }

  /** @param {number} row @param {number} column */
  cell(row, column) {
    const at = row * this.size + column;
    return { points: this.points[at], against: this.points[column * this.size + row], count: this.counts[at] };
  }
}

/**
 * What a team's matches came to, by seat; and the time that it used.
 * @typedef {{ ended: Map<string, number>, played: Map<string, number>, won: Map<string, number>, faults: number, seconds: number, steps: number,
 *   timed: number, slowest: number, slowestMatch: string }} Tally
 */

export class League {
  /** @param {import("./types.js").Summary} summary */
  constructor(summary) {
    this.summary = summary;
    /** @type {Map<number, import("./types.js").Duel>} */
    this.byNumber = new Map();
    this.isComplete = false;
    /** @type {Map<string, { row: import("./types.js").TeamRow, index: number }>} */
    this.rows = new Map();
    this.forget();
  }

  /** What was computed from the duels is computed again when it is next needed. */
  forget() {
    /** @type {import("./types.js").Duel[] | null} */
    this.sorted = null;
    /** @type {Crosstable | null} */
    this.cross = null;
    /** @type {Map<string, Tally> | null} */
    this.tallies = null;
    this.rows = new Map(this.summary.standings.map((row, index) => [row.team, { row, index }]));
  }

  /** @param {import("./types.js").Summary} summary */
  replace(summary) {
    this.summary = summary;
    this.forget();
  }

  /** Add duels, or replace those that are known. @param {import("./types.js").Pack} pack */
  take(pack) {
    const { texts, replay: [prefix, suffix] } = pack;
    const text = (/** @type {number} */ index) => texts[index];
    const time = (/** @type {number} */ tenths) => (tenths < 0 ? null : tenths / 10_000);
    for (const [number, round, start, variant, teams, points, matches, note] of pack.duels) {
      if (!matches.length && note < 0 && points.every((one) => one === null)) {
        // It was forgotten, because a team has another program now.
        this.byNumber.delete(number);
        continue;
      }
      this.byNumber.set(number, {
        number, round, start, variant, teams: teams.map(text), points, note: note < 0 ? "" : texts[note],
        matches: matches.map(([game, seats, players, winner, reason, words, steps, seconds, slowest, faults, replay, page]) => ({
          game, seats: seats.map(text), teams: players.map(text), winner, reason: texts[reason], text: texts[words], steps,
          seconds: seconds.map(time), slowest: slowest.map(time), faults: faults.map(([seat, fault]) => [seat, texts[fault]]),
          replay: replay === null ? null : prefix + replay + suffix, hasPage: page === 1,
        })),
      });
    }
    this.forget();
  }

  /** All duels in the order of their numbers. */
  get duels() {
    this.sorted ??= [...this.byNumber.values()].sort((a, b) => a.number - b.number);
    return this.sorted;
  }

  /** All seats, in the order in which matches name them. */
  get seats() {
    const seats = new Set();
    for (const duel of this.duels.slice(0, 50)) for (const match of duel.matches) for (const seat of match.seats) seats.add(seat);
    return /** @type {string[]} */ ([...seats]);
  }

  /** What the time of the bots is called: matches bill either the clock's time or the processor's. */
  get time() {
    return this.summary.clock === "cpu" ? "CPU time" : "time";
  }

  get crosstable() {
    if (this.cross) return this.cross;
    const cross = new Crosstable(this.summary.standings.length);
    for (const { teams, points } of this.duels) {
      // A duel that counts for nobody has no points.
      if (points.some((one) => one === null)) continue;
      for (let a = 0; a < teams.length; a += 1) {
        for (let b = 0; b < teams.length; b += 1) {
          const row = this.rows.get(teams[a])?.index;
          const column = this.rows.get(teams[b])?.index;
          if (a === b || row === undefined || column === undefined) continue;
          // At a table of many, a team has beaten those with fewer points.
          const [own, other] = [points[a] ?? 0, points[b] ?? 0];
          cross.add(row, column, teams.length === 2 ? own : own > other ? 1 : own === other ? 0.5 : 0);
        }
      }
    }
    this.cross = cross;
    return cross;
  }

  /** @returns {Map<string, Tally>} */
  get tally() {
    if (this.tallies) return this.tallies;
    /** @type {Map<string, Tally>} */
    const found = new Map();
    for (const { row } of this.rows.values()) {
      found.set(row.team, {
        ended: new Map(), played: new Map(), won: new Map(), faults: 0, seconds: 0, steps: 0, timed: 0, slowest: 0, slowestMatch: "",
      });
    }
    for (const duel of this.duels) {
      for (const match of duel.matches) {
        match.teams.forEach((team, seat) => {
          const tally = found.get(team);
          if (!tally) return;
          count(tally.ended, endingKey(match.seats[seat], match.reason));
          count(tally.played, match.seats[seat]);
          if (match.winner === seat) count(tally.won, match.seats[seat]);
          if (match.faults.some(([at]) => at === seat)) tally.faults += 1;
          const seconds = match.seconds[seat];
          if (seconds !== null && seconds !== undefined) {
            tally.seconds += seconds;
            tally.steps += match.steps;
            tally.timed += 1;
          }
          const slowest = match.slowest[seat] ?? 0;
          if (slowest > tally.slowest) {
            tally.slowest = slowest;
            tally.slowestMatch = `${duel.number}.${match.game}`;
          }
        });
      }
    }
    this.tallies = found;
    return found;
  }

  /** The duels that the address asks for. @param {import("./types.js").Wanted} wanted */
  select(wanted) {
    const one = wanted.match !== null ? Number(wanted.match.split(".")[0]) : wanted.duel;
    if (one !== null) return this.duels.filter((duel) => duel.number === one);
    return this.duels.filter((duel) => {
      if (wanted.team !== null && !duel.teams.includes(wanted.team)) return false;
      if (wanted.against !== null && !duel.teams.includes(wanted.against)) return false;
      return wanted.reason === null || duel.matches.some((match) => isWanted(match, wanted));
    });
  }
}

/** If a match ended as the address asks, for the team that it names. @param {import("./types.js").Match} match @param {import("./types.js").Wanted} wanted */
export function isWanted(match, wanted) {
  if (wanted.reason === null || match.reason !== wanted.reason) return false;
  if (wanted.team === null) return true;
  return match.teams.some((team, seat) => team === wanted.team && (wanted.seat === null || match.seats[seat] === wanted.seat));
}

/** @param {string} seat @param {string} reason */
export function endingKey(seat, reason) {
  return `${seat}\n${reason}`;
}

/** @param {Map<string, number>} map @param {string} key */
function count(map, key) {
  map.set(key, (map.get(key) ?? 0) + 1);
}

/** The page of a replay in viewer.html. @param {string} replay */
export function pageKey(replay) {
  return replay.endsWith(SUFFIX) ? replay.slice(0, -SUFFIX.length) : replay;
}
