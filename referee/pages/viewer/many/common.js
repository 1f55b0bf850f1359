// What the pages about several matches share: names, results, requests.

import { byId, counted, plain } from "../kit/dom.js";

/**
 * An entry of the list: see `ListedReplay` in referee/pages/folder_listing.py.
 * @typedef {{ name: string, size: number, modified: number, game: string, rules: string, players: Record<string, string>, teams: Record<string, string>,
 *   winner: string | null, reason: string, text: string, scores: Record<string, number | null>, steps: number | null,
 *   problem: string, opens: boolean }} Entry
 */

/** What the server has written into the page. */
export const config = JSON.parse(byId("page").textContent || "null") ?? {};

/** Ask the server; throws an Error in words. @param {string} address */
export async function asked(address) {
  const found = await fetch(address).catch(() => null);
  if (!found) throw new Error("The server doesn't answer: the command has ended, or the network is down.");
  if (!found.ok) throw new Error(`The server says ${found.status}.`);
  return found.json();
}

/** Say something about the whole page; an empty text hides it. @param {string} text */
export function say(text) {
  byId("message").textContent = text;
  byId("message").hidden = !text;
}

/**
 * The names of a match. In a league, the name on the page has the bot's own name after the team's.
 * @param {Entry} entry @returns {[string, string, string][]} the seats, the names on the page, and the names to count and filter by
 */
export function players(entry) {
  return Object.entries(entry.players).map(([seat, name]) => [plain(seat, 20), plain(name, 90), plain(Object.hasOwn(entry.teams, seat) ? entry.teams[seat] : name, 60)]);
}

/** A number of steps in words. @param {number | null} steps */
export function lengthOf(steps) {
  return steps === null ? "" : counted(steps, "step");
}

/** The entries as they come. */
export class List {
  constructor() {
    /** @type {Map<number, Entry>} */
    this.entries = new Map();
    this.next = 0;
    this.isReading = true;
    /** @type {string[]} */
    this.notes = [];
  }

  /** Take in what is new; return whether anything is. */
  async update() {
    const found = await asked(`list?from=${this.next}`);
    for (const [key, entry] of found.entries) {
      if (entry) this.entries.set(key, entry);
      else this.entries.delete(key);
    }
    this.next = found.next;
    const isNew = found.entries.length > 0 || this.isReading !== found.reading;
    this.isReading = found.reading;
    this.notes = found.notes;
    return isNew;
  }
}

/** Wait a while. @param {number} ms */
export function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
