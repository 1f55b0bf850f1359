// The page of a student: every test, what was lost and why, and the replays at that step.

import { address, clean } from "../../league/page/shared.js";
import { counted, el, number } from "../../web/viewer/kit/dom.js";
import { points, statusChip } from "./marks.js";

/** @typedef {import("./types.js").Summary} Summary */
/** @typedef {import("./types.js").Student} Student */
/** @typedef {import("./types.js").Test} Test */
/** @typedef {import("./types.js").Result} Result */
/** @typedef {import("./types.js").Trial} Trial */
/** @typedef {import("./types.js").Match} Match */

/** @param {Summary} summary @param {Student[]} students @param {number} index */
export function studentPage(summary, students, index) {
  const one = students[index];
  const id = `student-${index}`;
  const near = (/** @type {number} */ at, /** @type {string} */ text) => (students[at] ? el("a", { href: address({ student: students[at].student }), class: "button", title: clean(students[at].student) }, text) : null);
  const facts = /** @type {[string, Node | string][]} */ ([
    ...(one.full_name && one.full_name !== one.student ? [["name", clean(one.full_name)]] : []),
    ["submission", one.submission ? clean(one.submission) : "none"],
    ["points", el("strong", {}, `${one.complete ? points(one.points) : `${points(one.points)} so far`} of ${points(summary.maximum)}`)],
    ["status", el("span", {}, statusChip(one.status), " ", clean(one.reason))],
    ...(one.run ? [["from", [`run ${one.run} of ${summary.runs.length}`, clean(summary.runs[one.run - 1] ?? "").replace("T", " ").replace("Z", " UTC")].filter(Boolean).join(", ")]] : []),
    ["to hand out", el("a", { href: `students/${encodeURIComponent(one.folder)}/report.md` }, `students/${clean(one.folder)}`)],
  ]);
  return el("section", { class: "student", id, "aria-labelledby": `${id}-title` },
    el("div", { class: "row" }, el("h2", { id: `${id}-title` }, clean(one.student)), el("span", { class: "steps" }, near(index - 1, "← Previous"), near(index + 1, "Next →"))),
    el("dl", { class: "facts" }, ...facts.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])),
    ...one.tests.map((result, at) => testPart(summary.tests[at], result, id, at)));
}

/** On a page of all students, the name of a part begins with that of the student. @param {Test} test @param {Result} result @param {string} student @param {number} at */
function testPart(test, result, student, at) {
  const id = `${student}-${at}`;
  const about = `${test.seat === null ? "A duel" : `Plays ${clean(test.seat)}`} against ${clean(test.against)}; needs: ${clean(test.needs)}.`;
  return el("section", { class: "test-part", "aria-labelledby": `${student}-title ${id}` },
    el("h3", { id }, clean(test.name), " ", el("span", { class: "count" }, `${points(result.points)} of ${points(test.points)}`),
      result.complete ? null : el("span", { class: "chip" }, "not decided"), test.when === "after_due" ? el("span", { class: "chip" }, "after due") : null),
    el("p", { class: "faint" }, about, test.hidden ? ` Hidden starts: ${points(result.hidden_points)} points.` : ""),
    result.trials.length ? el("ul", { class: "trials" }, ...result.trials.map((trial) => trialItem(trial))) : el("p", { class: "note" }, "Nothing was played."));
}

/** @param {Trial} trial */
function trialItem(trial) {
  const mark = trial.passed === null ? "…" : trial.passed ? "✓" : "✗";
  const word = trial.passed === null ? "not decided" : trial.passed ? "passed" : trial.fault ? "failed by its own fault" : "lost";
  return el("li", { class: `trial ${trial.passed === false ? "lost" : ""}` },
    el("div", { class: "which" },
      el("span", { class: "mark", "aria-hidden": "true" }, mark), el("span", {}, ` Start ${trial.start + 1}`),
      trial.hidden ? el("span", { class: "chip" }, "hidden") : null,
      el("span", { class: "number faint" }, `${points(trial.points)} p.`)),
    el("div", { class: "told" }, el("p", { class: trial.fault ? "fault" : "" }, trial.text ? clean(trial.text) : word, el("span", { class: "unseen" }, ` ${word}`)),
      ...trial.matches.map((match) => matchLine(trial, match))));
}

/** @param {Trial} trial @param {Match} match */
function matchLine(trial, match) {
  const seats = match.seats.map(([seat, name]) => `${clean(seat)}: ${clean(name)}`).join(" · ");
  const step = match.step === null ? "" : `#t=${match.step}`;
  const label = match.step === null ? "▶ Replay" : `▶ Step ${number(match.step)}`;
  return el("p", { class: "match" },
    match.page === null ? null : el("a", { class: "button watch", href: `viewer.html?match=${encodeURIComponent(match.page)}${step}`, "aria-label": `${label} of start ${trial.start + 1}, ${seats}` }, label),
    el("span", {}, clean(match.text), " ", el("span", { class: "faint" }, `${seats} · ${counted(match.steps, "step")}`),
      ...match.logs.flatMap(([seat, href]) => [" · ", el("a", { href }, `stderr of ${clean(seat)}`)])));
}
