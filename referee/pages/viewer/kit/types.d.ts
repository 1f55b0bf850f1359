/** What the modules of the page pass to each other; every module knows these names. Units are steps, cells and milliseconds unless a name says otherwise. */

type Json = any;

interface Head {
  format: number;
  game: string;
  version: number;
  rules: string;
  settings: Record<string, Json>;
  players: Record<string, Json>;
  clock: Record<string, Json>;
  [key: string]: Json;
}

interface StepRecord {
  turn: number;
  moves?: Record<string, Json>;
  changes: Record<string, Json>;
  notices?: Json[];
  us?: Record<string, number>;
  remarks?: Record<string, Json>;
  log?: Record<string, number>;
}

/** Something that happened in the step `turn`, as the list of events and the strip show it. */
interface GameEvent {
  turn: number;
  kind: string;
  seat: string;
  text: string;
}

/** A series of numbers in the timelines; NaN where there is none. */
interface Strip {
  name: string;
  /** The title of the chart that it shares with others, on one scale; without this it has a chart of its own. */
  chart?: string;
  unit: string;
  /** A name of the palette's (orange, blue, accent, grid, warn, plain), or any colour. */
  color: string;
  /** The value at a position, which is the state before the step of that number. */
  value(turn: number): number;
  /** The number of steps that were asked, if a value stands for one of them and so is drawn as a bar; and which of them were faults. */
  bars?(): number;
  faults?(): Iterable<number>;
  /** The value in words. */
  text?(turn: number): string;
  /** For values of no order: the colour that stands for the one of a position, "" for none, in place of a height. */
  band?(turn: number): string;
  /** A line to hold values against, such as a limit. */
  limit?: number;
  /** Whether there is anything to show yet. */
  isKnown(): boolean;
}

interface Palette {
  isDark: boolean;
  paper: string;
  board: string;
  ink: string;
  faint: string;
  grid: string;
  orange: string;
  blue: string;
  accent: string;
  warn: string;
}

/** What a drawing needs to know beside the position. One unit of the canvas is one cell; `pixel` is one pixel of the screen in cells. */
interface Frame {
  turn: number;
  /** How far the pieces are on their way to the next position, from 0 to below 1; only while the match plays. */
  phase: number;
  /** Steps a second while the match plays, 0 while it stands. */
  pace: number;
  /** The reader wants no motion: nothing flashes or glides. */
  isCalm: boolean;
  /** This is the last position of a match that is over. */
  isEnd: boolean;
  pixel: number;
  palette: Palette;
  trail: number;
  ahead: boolean;
  /** The cell under the pointer. */
  pointer: Cell | null;
  /** What a player at the board is about to do: `changes` as a step record would have them, or why not. */
  preview: Preview | null;
}

interface Preview {
  move: Json;
  changes: Record<string, Json>;
  notices: Json[];
  /** Whether the rules would refuse the move. */
  refused: boolean;
}

interface Cell {
  x: number;
  y: number;
}

/** A middle on the canvas and how many cells around it have to be in sight. */
interface Place {
  u: number;
  v: number;
  span: number;
}

/** Where a player is on the canvas. The colour is as that of a strip. */
interface Spot {
  seat: string;
  u: number;
  v: number;
  color: string;
}

/** What there is to say of a match's end beside the result's own text, and where on the canvas it happened. */
interface Ending {
  text: string;
  place: [number, number] | null;
}

/** A player in the standings of a position; the colour is as that of a strip. */
interface Standing {
  seat: string;
  name: string;
  color: string;
  /** The score in words, "" where there is none. */
  score: string;
}

/** The positions of one game, step by step, and how they are drawn. Made by a game's `createTrack`. */
interface Track {
  readonly width: number;
  readonly height: number;
  /** Take in a step; throws an Error that says what is wrong with a record that makes no sense. */
  push(record: StepRecord): void;
  /** Go on from a position, after steps that were not seen. */
  jump(turn: number, view: Json): void;
  events(record: StepRecord): GameEvent[];
  /** Take in the metrics of a position, which hold until the next ones; return the events that they show. */
  measure(position: number, values: Record<string, Json>): GameEvent[] | void;
  /** Take in verdicts, each with the position from which it holds, in order; return the events that they show. `isAll`: the last one holds to the end. */
  judged?(points: [number, Json][], isAll?: boolean): GameEvent[];
  /** What the engine can draw over a position on request: names and labels; and what is drawn. */
  layers?: [string, string][];
  analysis?: { shown: Set<string>; turn: number; lags: boolean; take(turn: number, found: Json): void };
  /** What changes seldom, below everything else: drawn again only if the view or its key changes. */
  drawGround?(context: CanvasRenderingContext2D, frame: Frame): void;
  groundKey?(turn: number): string;
  /** What the page itself can draw on request: names and labels; and what is drawn. */
  options?: [string, string][];
  shown?: Set<string>;
  /** Where the players are on the canvas, for what they say, too: at a position, and as its fraction on the way to the next one. */
  spots?(exact: number): Spot[];
  /** Where all pieces are on the canvas, if they are more than the players' spots. */
  pieces?(exact: number): [number, number][];
  /** Words about a place on the canvas, which are drawn where they cover no player. */
  notes?(frame: Frame): { text: string; at: [number, number]; color: string }[];
  /** What a camera that follows the players shows. */
  focus?(exact: number): Place | null;
  /** Where and at which position the match ends; null while that isn't known, or where it ends nowhere in particular. */
  finale?(): (Place & { turn: number }) | null;
  /** The match is over: its result. */
  ended?(result: Json): void;
  ending?(): Ending;
  standings?(turn: number): Standing[];
  draw(context: CanvasRenderingContext2D, frame: Frame): void;
  /** Where a cell's middle is on the canvas, and back. */
  place(x: number, y: number): [number, number];
  locate(u: number, v: number): Cell;
  hover(cell: Cell, turn: number): string;
  summary(turn: number): string;
  score(turn: number): string;
  facts(turn: number): [string, string][];
  strips(): Strip[];
  /** The score of the result, in words. */
  result(result: Json): string;
  legend(palette: Palette): [string, string][];
}

/** A shape of a drawing: the tag of SVG, its attributes, and its text. */
type Shape = [string, Record<string, string | number>, string?];

/** What a person reads before a match: a picture and two lines. */
interface Card {
  /** What there is to win, and how the pieces move. */
  goal: string;
  /** What to press; keys stand between backquotes. */
  keys: string;
  /** The same for a person who has only fingers. */
  taps: string;
  /** The picture, in a box of 120 by 72, and what it shows. */
  picture: Shape[];
  describes: string;
}

/** How a person plays a seat: what keys and the pointer mean. */
interface Controls {
  /** What a person reads before a match. */
  card?: Card;
  /** Every key, and what the pointer does. */
  help: [string, string][];
  /** The same for a person who has only fingers, in taps; without it they read `help`. */
  touchHelp?: [string, string][];
  /** The move that a key stands for in this position; null if it means nothing. */
  key(event: KeyboardEvent, turn: number): Intent | null;
  /** The move that pointing at a cell stands for; `reach` is how near counts as a hit, in cells. */
  point(cell: Cell, turn: number, event: { shiftKey: boolean; type?: string; reach?: number }): Intent | null;
  /** Whether the rules may refuse a move of this seat. Then each move waits at the server until they allow it. */
  mayBeRefused?: boolean;
  /** Why a move can't be made, "" if it can: who means it is told, and it is not sent. */
  refusal?(move: Json): string;
  /** What a move has to wait for in a position, such as "next turn in 3 steps"; "" for nothing. */
  waits?(move: Json, turn: number): string;
  /** One sentence on all the buttons' moves that can't be made now; "" where there are none. */
  refused?(moves: Json[]): string;
  /** What the engine says of this player's moves, in words for the person who plays it; `code` is that of a notice. */
  reword?(text: string, code?: string): string;
  /** What goes on without being said again, when the question of a turn comes. */
  plan?(turn: number): Intent | null;
  /** Whether a tap on the board only shows what it would do, and a second one does it. */
  confirmsTaps?: boolean;
  /** What a person is to do in a set-up that isn't complete yet; "" otherwise. */
  setUp?(turn: number): string;
  /** The move that adds one to the pending move. Where there is this, buttons add to the pending move, too. */
  combine?(pending: Json, move: Json): Json;
  /** Groups of buttons, for those without a keyboard. */
  pads?: Pad[];
  /** What is left of something, for a person to see at a glance. */
  dials?(turn: number): Dial[];
  /** What goes on in the next steps if no move is chosen, or a hint, in words; "" for nothing. */
  goesOn?(turn: number, isPaced: boolean): string;
  /** Draws over the board what only this person sees, such as what is chosen. */
  draw?(context: CanvasRenderingContext2D, frame: Frame): void;
  /** Whether the pointer can take hold of something on a cell. */
  grab?(cell: Cell, turn: number): boolean;
  /** Where the pointer has drawn what it holds: every cell of the way, in order. */
  drag?(way: Cell[], turn: number, isDone: boolean): Intent | null;
}

/** A group of buttons: arrows around a middle, or a row. */
interface Pad {
  kind: "compass" | "buttons";
  label: string;
  buttons: PadButton[];
}

interface PadButton {
  sign: string;
  title: string;
  /** Its place in a compass: 0 to 8, row by row. */
  at?: number;
  /** The move, if the engine is to say whether the rules would refuse it; the button is disabled then. */
  move?: Json;
  /** What pressing it means; null if no move comes of it. */
  press(turn: number): Intent | null;
  /** Whether it stands for what is chosen. */
  isPressed?(turn: number): boolean;
  isShown?(turn: number): boolean;
}

/** How much is left: `value` of `most`, and in words. */
interface Dial {
  name: string;
  value: number;
  most: number;
  text: string;
  isReady?: boolean;
}

/** A move that a person chooses; `merge` adds it to the pending move. */
interface Intent {
  move: Json;
  merge?: boolean;
  /** There is more to be said: where the match waits for the person it waits on. */
  hold?: boolean | "set-up";
}

/** How events of a kind are drawn on the strip: a colour as of a strip, and the top and the bottom from 0 to 1. */
interface EventLook {
  color: string;
  from: number;
  to: number;
  /** The list of events hides this kind until it is chosen. */
  isMinor?: boolean;
}

/** A straight row of cells, or one cell, that is marked on the board: x and y of its ends. */
interface Mark {
  start: [number, number];
  end: [number, number];
}

/** How a better move is shown: as rows of cells, or as an arrow from one cell to another. */
interface Better {
  marks?: Mark[];
  arrow?: Mark;
}

/** A moment of the story of a match. `turn` is the step in which it happened, or the position that it describes; a click goes there. */
interface Moment {
  turn: number;
  /** One sentence, without the step. */
  text: string;
  /** How much it matters, from 0 to 10: a long story leaves out what matters least. */
  weight: number;
  /** A sign before the text, and its colour, as of a strip. */
  sign: string;
  color: string;
  /** What the moment is about, as rows of cells from `start` to `end`. */
  marks?: Mark[];
}

/** What a game's `moments` may read of a replay. */
interface Story {
  readonly head: Head | null;
  readonly track: Track | null;
  readonly events: GameEvent[];
  readonly seats: string[];
  readonly steps: number;
  readonly isOver: boolean;
  readonly result: Json;
  record(turn: number): StepRecord | null;
}

interface Display {
  createTrack(head: Head): Track;
  createControls?(track: Track, seat: string): Controls;
  /** A move in words, for the person who makes it; without this the page shows the move as JSON. */
  describeMove?(move: Json): string;
  /** How a move that would have been better is drawn. */
  better?(track: Track, mistake: { seat: string; turn: number; better: Json }): Better | null;
  /** The colours of seats, as those of strips; other seats are neutral. */
  seatColors?: Record<string, string>;
  /** The looks of the kinds of events that the track returns; other kinds look plain. */
  eventLooks?: Record<string, EventLook>;
  /** The moments of a match that only the game knows; without this the rarest kinds of events are told. */
  moments?(story: Story): Moment[];
}

/** What the page was made for; the server or the export writes it into the page. */
interface PageConfig {
  mode: "watch" | "live" | "seat" | "export" | "empty";
  name: string;
  seat?: string;
  server: boolean;
  settings?: Json;
  check?: Json;
  /** The part of the address that a page in a frame begins with. */
  hash?: string;
  metrics?: Json;
  judged?: [number, Json][];
  /** Whether it plays as soon as it is there, where its reader has nothing against motion. */
  plays?: boolean;
  logs?: Record<string, string>;
  /** What command lines about the replay need; without it the server is asked. */
  commands?: { program: string; replay: string | null; bots: Record<string, string | null> };
  version: string;
  timed?: boolean;
  /** The seats of people. */
  people?: string[];
  /** The number of the replay in the list that has opened it. */
  listed?: number;
  /** The position in which a match that is shown live begins, with its turn. */
  start?: { turn: number; state: Json } | null;
}
