// The marks: a page of the class, and one of each student. The address says which is shown.

import { address, clean, setPrinting } from "../../league/page/shared.js";
import { byId, counted, el, part, remembered } from "../../web/viewer/kit/dom.js";
import { classPage } from "./class.js";
import { studentPage } from "./student.js";

/** @type {import("./types.js").Summary} */
const summary = JSON.parse(byId("page").textContent || "null");
const dark = matchMedia("(prefers-color-scheme: dark)");
/** @type {import("./types.js").Student[]} */
let students = [];

/** The address: a student's name, "all", or the class. */
function wanted() {
  const hash = location.hash.slice(1);
  return { student: new URLSearchParams(hash).get("student"), isAll: hash === "all" };
}

/** A name as it comes back from the address, which can't hold lone surrogates. @param {string} name */
function inAddress(name) {
  return new URLSearchParams(address({ student: name }).slice(1)).get("student");
}

function draw() {
  const { student, isAll } = wanted();
  const at = student === null ? -1 : students.findIndex((one) => inAddress(one.student) === student);
  const isUnknown = student !== null && at < 0;
  const main = byId("main");
  if (isAll) main.replaceChildren(...students.map((_, index) => studentPage(summary, students, index)));
  else if (at >= 0) main.replaceChildren(studentPage(summary, students, at));
  else main.replaceChildren(...classPage(summary, students, draw));
  byId("message").textContent = isUnknown ? `There is no student ${clean(student ?? "")} in these marks.` : "";
  byId("message").hidden = !isUnknown;
  part("student", HTMLInputElement).value = student ?? "";
  for (const [id, isHere] of /** @type {[string, boolean][]} */ ([["to-class", !isAll && at < 0], ["to-all", isAll]])) {
    if (isHere) byId(id).setAttribute("aria-current", "page");
    else byId(id).removeAttribute("aria-current");
  }
  document.title = `${at >= 0 ? `${clean(students[at].student)} · ` : ""}${clean(summary.name)} · Marks`;
}

function drawTop() {
  byId("name").textContent = clean(summary.name);
  byId("about").textContent = [`${clean(summary.game)} ${clean(summary.rules)}`, counted(students.length, "student"), summary.complete ? "" : "not all matches are decided"]
    .filter(Boolean).join(" · ");
  byId("students").replaceChildren(...students.flatMap(({ student, full_name }) => [el("option", { value: student }, clean(full_name))]));
  byId("footer").textContent = [`referee ${summary.version}`, summary.isolation ? `isolation: ${clean(summary.isolation)}` : ""].filter(Boolean).join(" · ");
}

/** @param {string | null} theme */
function setTheme(theme) {
  if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
}

/** Go to the student whose name or identity the reader wrote. @param {boolean} isSure */
function choose(isSure) {
  const text = part("student", HTMLInputElement).value;
  if (text === "") {
    if (wanted().student !== null) location.hash = "#";
    return;
  }
  const lower = text.toLowerCase();
  const found = students.find((one) => one.student === text)
    ?? (isSure ? students.find((one) => one.student.toLowerCase().startsWith(lower) || one.full_name.toLowerCase().includes(lower)) : undefined);
  if (found || isSure) location.hash = address({ student: found?.student ?? text });
}

function listen() {
  const input = part("student", HTMLInputElement);
  input.addEventListener("input", () => choose(false));
  byId("filter").addEventListener("submit", (event) => {
    event.preventDefault();
    choose(true);
  });
  // A form may not be sent from this page; Enter chooses the student.
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    choose(true);
  });
  byId("theme").addEventListener("click", () => {
    const isDark = (document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light")) === "dark";
    setTheme(isDark ? "light" : "dark");
    remembered("theme", document.documentElement.dataset.theme);
  });
  globalThis.addEventListener("hashchange", () => {
    if (location.hash === "#main") return;
    draw();
    scrollTo(0, 0);
  });
  // On paper all rows are shown.
  for (const [name, isPaper] of /** @type {[string, boolean][]} */ ([["beforeprint", true], ["afterprint", false]])) {
    globalThis.addEventListener(name, () => {
      setPrinting(isPaper);
      if (!wanted().isAll) draw();
    });
  }
}

/** @returns {Promise<import("./types.js").Student[]>} */
async function unpacked() {
  const bytes = Uint8Array.from(atob(byId("bulk").textContent ?? ""), (sign) => sign.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

async function start() {
  setTheme(remembered("theme"));
  students = await unpacked();
  listen();
  drawTop();
  draw();
}

void start();
