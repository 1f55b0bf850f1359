// Points and their share, as all pages of the marks write them.

import { clean } from "../../league/page/shared.js";
import { el } from "../../web/viewer/kit/dom.js";

/** Points with at most two decimals. @param {number} value */
export function points(value) {
  return String(Math.round(value * 100) / 100 || 0).replace("-", "−");
}

/** @param {string} status */
export function statusChip(status) {
  return el("span", { class: `chip ${status === "ok" ? "good" : "bad"}` }, clean(status));
}

/** A cell of a table that is darker the more of its points are lost. @param {number} got @param {number} most @param {boolean} isComplete @param {(Node | string)[]} children */
export function shareCell(got, most, isComplete, ...children) {
  const cell = el("td", { class: `number${isComplete ? " share" : ""}` }, ...(isComplete ? children : ["…"]));
  if (isComplete && most > 0) cell.style.setProperty("--lost", `${Math.round(100 * Math.min(1, Math.max(0, 1 - got / most)))}%`);
  return cell;
}
