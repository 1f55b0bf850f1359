// What the report is made of, as referee/league/report.py writes it.

export interface TeamRow {
  team: string;
  place: number;
  places: [number, number];
  decided: boolean;
  points: number;
  played: number;
  won: number;
  tied: number;
  lost: number;
  total: number | null;
  elo: number | null;
  low: number | null;
  high: number | null;
  forfeits: number;
  byes: number;
  stage: number | null;
  buchholz: number | null;
}

/** A fixture of an elimination: one team alone has a bye. */
export interface BracketLine {
  round: number;
  teams: string[];
  points: number[];
  winner: string | null;
  tie: string;
}

export interface Summary {
  version: string;
  name: string;
  game: string;
  rules: string;
  format: string;
  settings: Record<string, unknown>;
  variants: Record<string, unknown>[];
  seed: string | null;
  notes: string[];
  total_name: string;
  written: string;
  order: string;
  /** Which team goes on in an elimination. */
  fixture_rule: string;
  is_live: boolean;
  clock: string;
  bracket: BracketLine[];
  progress: { state: string; done: number; total: number; matches_a_minute: number | null; seconds_left: number | null };
  standings: TeamRow[];
}

/** See `pack` in referee/league/report.py. */
export interface Pack {
  texts: string[];
  replay: [string, string];
  duels: [number, number, number, number, number[], (number | null)[], PackedMatch[], number][];
}

export type PackedMatch = [
  number, number[], number[], number, number, number, number, number[], number[], [number, number][], string | null, number,
];

export interface Match {
  game: number;
  seats: string[];
  teams: string[];
  winner: number;
  reason: string;
  text: string;
  steps: number;
  seconds: (number | null)[];
  slowest: (number | null)[];
  faults: [number, string][];
  replay: string | null;
  hasPage: boolean;
}

export interface Duel {
  number: number;
  round: number;
  start: number;
  variant: number;
  teams: string[];
  points: (number | null)[];
  matches: Match[];
  note: string;
}

/** What the address asks for. */
export interface Wanted {
  team: string | null;
  against: string | null;
  seat: string | null;
  reason: string | null;
  duel: number | null;
  match: string | null;
}
