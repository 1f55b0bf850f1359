// What the page shows, as referee/grading/page.py writes it.

export interface Test {
  name: string;
  seat: string | null;
  against: string;
  needs: string;
  points: number;
  starts: number;
  hidden: number;
  when: string;
}

export interface Summary {
  version: string;
  name: string;
  game: string;
  rules: string;
  maximum: number;
  isolation: string;
  complete: boolean;
  /** The time of each run, in UTC; "" where it is unknown. */
  runs: string[];
  tests: Test[];
}

export interface Match {
  /** Who played each seat. */
  seats: [string, string][];
  text: string;
  reason: string;
  steps: number;
  /** The key of the replay for viewer.html; null if there is none. */
  page: string | null;
  step: number | null;
  /** Addresses of logs by seat. */
  logs: [string, string][];
}

export interface Trial {
  start: number;
  hidden: boolean;
  passed: boolean | null;
  points: number;
  text: string;
  fault: boolean;
  matches: Match[];
}

export interface Result {
  points: number;
  hidden_points: number;
  complete: boolean;
  trials: Trial[];
}

export interface Student {
  student: string;
  full_name: string;
  submission: string;
  folder: string;
  status: string;
  /** The number of the run that took the submission, from 1; 0 if there is none. */
  run: number;
  reason: string;
  points: number;
  complete: boolean;
  tests: Result[];
}
