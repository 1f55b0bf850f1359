// The page of the class: how many passed what, who failed and why, and everybody's points.

import { address, bar, clean, longTable } from "../../league/page/shared.js";
import { counted, el, number } from "../../web/viewer/kit/dom.js";
import { points, shareCell, statusChip } from "./marks.js";

/** @typedef {import("./types.js").Summary} Summary */
/** @typedef {import("./types.js").Student} Student */

const STATUSES = ["ok", "faulty", "missing", "refused"];

/** @param {Summary} summary @param {Student[]} students @param {() => void} again @returns {HTMLElement[]} */
export function classPage(summary, students, again) {
  return [
    section("overview", "The class", ...overview(summary, students)),
    section("tests", "Tests", ...tests(summary, students)),
    section("students-table", "Students", ...table(summary, students, again)),
    section("problems", "Faults and problems", ...problems(students, again)),
  ];
}

/** @param {string} id @param {string} title @param {...HTMLElement} children */
function section(id, title, ...children) {
  return el("section", { id, "aria-labelledby": `${id}-title` }, el("h2", { id: `${id}-title` }, title), ...children);
}

/** The students over whom all means and counts of points are taken. @param {Student[]} students */
function graded(students) {
  return students.filter((one) => one.complete && one.status !== "missing" && one.status !== "refused");
}

/** @param {Summary} summary @param {Student[]} students */
function overview(summary, students) {
  const marked = graded(students).map((one) => one.points).sort((a, b) => a - b);
  const middle = marked.length ? (marked[Math.floor((marked.length - 1) / 2)] + marked[Math.ceil((marked.length - 1) / 2)]) / 2 : null;
  const mean = marked.length ? marked.reduce((sum, one) => sum + one, 0) / marked.length : null;
  const open = students.filter((one) => !one.complete).length;
  const facts = /** @type {[string, string][]} */ ([
    ...STATUSES.map((status) => [status, counted(students.filter((one) => one.status === status).length, "student")]),
    ...(open ? [["not complete", counted(open, "student")]] : []),
    ...(mean === null || middle === null ? [] : [["points", `mean ${points(mean)}, median ${points(middle)}, from ${points(marked[0])} to ${points(marked[marked.length - 1])}, of ${points(summary.maximum)}; ${over(students)}`]]),
  ]);
  return [el("dl", { class: "facts" }, ...facts.flatMap(([name, text]) => [el("dt", {}, name), el("dd", {}, text)]))];
}

/** Names the students over whom means are taken. @param {Student[]} students */
function over(students) {
  return `over the ${counted(graded(students).length, "student")} of ${number(students.length)} whose submissions were graded completely`;
}

/** @param {Summary} summary @param {Student[]} students */
function tests(summary, students) {
  const head = el("tr", {}, el("th", { scope: "col" }, "Test"), el("th", { scope: "col", class: "number" }, "Points"), el("th", { scope: "col", class: "number" }, "Mean"),
    el("th", { scope: "col", class: "chart" }, el("span", { class: "unseen" }, "Mean as a share")), el("th", { scope: "col", class: "number roomy" }, "All points"), el("th", { scope: "col", class: "roomy" }, "Starts"));
  const rows = summary.tests.map((test, at) => {
    const results = graded(students).map((one) => one.tests[at]);
    const mean = results.length ? results.reduce((sum, one) => sum + one.points, 0) / results.length : null;
    const full = results.filter((one) => one.points >= test.points - 1e-6).length;
    return el("tr", {}, el("th", { scope: "row" }, clean(test.name), test.when === "after_due" ? el("span", { class: "chip" }, "after due") : null,
      el("span", { class: "faint block" }, `${test.seat === null ? "duel" : `as ${clean(test.seat)}`} against ${clean(test.against)}: ${clean(test.needs)}`)),
    el("td", { class: "number" }, points(test.points)),
    el("td", { class: "number" }, mean === null ? "–" : points(mean)),
    el("td", { class: "chart" }, mean === null ? null : bar(0, test.points ? mean / test.points : 0, { kind: "length" })),
    el("td", { class: "number roomy" }, `${number(full)} of ${number(results.length)}`),
    el("td", { class: "roomy" }, `${number(test.starts)}, ${number(test.hidden)} hidden`));
  });
  const made = el("table", {}, el("caption", { class: "unseen" }, "Tests"), el("thead", {}, head), el("tbody", {}, ...rows));
  return [el("div", { class: "wide", tabindex: 0, role: "group", "aria-label": "Tests" }, made), el("p", { class: "note" }, `Means and counts are ${over(students)}.`)];
}

/** @param {Summary} summary @param {Student[]} students @param {() => void} again */
function table(summary, students, again) {
  const head = el("tr", {}, el("th", { scope: "col" }, "Student"), el("th", { scope: "col" }, "Status"), el("th", { scope: "col", class: "number" }, "Points"),
    ...summary.tests.map((test) => el("th", { scope: "col", class: "number test", title: clean(test.name) }, clean(test.name))));
  const rows = students.map((one) => el("tr", {},
    el("th", { scope: "row" }, el("a", { href: address({ student: one.student }), class: "team", title: clean(one.student) }, clean(one.student)),
      one.full_name && one.full_name !== one.student ? el("span", { class: "faint block" }, clean(one.full_name)) : null),
    el("td", {}, statusChip(one.status)),
    el("td", { class: "number" }, el("strong", {}, one.complete ? points(one.points) : "…")),
    ...one.tests.map((result, at) => (result.trials.length || !result.complete ? shareCell(result.points, summary.tests[at].points, result.complete, points(result.points)) : el("td", { class: "number" }, points(result.points))))));
  return [...longTable({ name: "students", caption: "Points of all students", head: [head], rows, again }),
    el("p", { class: "note" }, "In a darker cell a larger share of the points was lost. … stands for marks that are not decided. Each name leads to the student's page.")];
}

/** @param {Student[]} students @param {() => void} again */
function problems(students, again) {
  const found = students.filter((one) => one.status !== "ok" || one.reason);
  if (!found.length) return [el("p", { class: "note" }, "No submission failed.")];
  const head = el("tr", {}, el("th", { scope: "col" }, "Student"), el("th", { scope: "col" }, "Status"), el("th", { scope: "col" }, "Why"));
  const rows = found.map((one) => el("tr", {}, el("th", { scope: "row" }, el("a", { href: address({ student: one.student }), class: "team", title: clean(one.student) }, clean(one.student))),
    el("td", {}, statusChip(one.status)), el("td", { class: "told" }, clean(one.reason))));
  return longTable({ name: "problems", caption: "Faults and problems", head: [head], rows, again });
}
