// The toy game on a page: the total as a bar.

import { number } from "../../pages/viewer/kit/dom.js";

class CountingTrack {
  constructor(head) {
    this.width = head.settings.goal;
    this.height = 4;
    this.totals = [0];
  }

  push({ changes }) {
    this.totals.push(changes.total);
  }

  jump(turn, view) {
    while (this.totals.length <= turn) this.totals.push(view.total);
  }

  events() {
    return [];
  }

  measure() {
    return [];
  }

  draw(context, { turn }) {
    context.fillStyle = "#0072b2";
    context.fillRect(0, 0, this.totals[turn], this.height);
  }

  place(x, y) {
    return [x, y];
  }

  locate(u, v) {
    return [Math.floor(u), Math.floor(v)];
  }

  hover() {
    return "";
  }

  summary(turn) {
    return `total ${number(this.totals[turn])}`;
  }

  score(turn) {
    return number(this.totals[turn]);
  }

  facts(turn) {
    return [["total", number(this.totals[turn])]];
  }

  strips() {
    return [];
  }

  result() {
    return "";
  }

  legend() {
    return [["#0072b2", "total"]];
  }
}

export const display = {
  createTrack: (head) => new CountingTrack(head),
  describeMove: ({ add }) => `add ${add}`,
  seatColors: { first: "orange", second: "blue" },
};
