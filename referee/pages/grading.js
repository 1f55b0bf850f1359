// The marks: the page of the class, that of one student, or those of all. The address says which is shown.

import { byId, part } from "./viewer/kit/dom.js";
import { address, clean, configured, listenToPage } from "./common.js";

/** Who is in the marks, in their order. @type {{ name: string, full: string }[]} */
const students = configured().students;
const pages = [...document.querySelectorAll("template.student-page")].map((one) => /** @type {HTMLTemplateElement} */ (one).content);
const title = document.title;

/** The address: a student's name, "all", or the class. */
function wanted() {
  const hash = location.hash.slice(1);
  return { student: new URLSearchParams(hash).get("student"), isAll: hash === "all" };
}

function draw() {
  const { student, isAll } = wanted();
  const at = students.findIndex(({ name }) => name === student);
  const shown = isAll ? pages : at >= 0 ? [pages[at]] : [];
  byId("shown").replaceChildren(...shown.map((page) => page.cloneNode(true)));
  byId("class").hidden = shown.length > 0;
  byId("message").hidden = student === null || at >= 0;
  byId("message").textContent = byId("message").hidden ? "" : `There is no student ${clean(student ?? "")} in these marks.`;
  part("student", HTMLInputElement).value = student ?? "";
  byId("to-class").ariaCurrent = shown.length ? null : "page";
  byId("to-all").ariaCurrent = isAll ? "page" : null;
  document.title = `${at >= 0 ? `${clean(students[at].name)} · ` : ""}${title}`;
}

listenToPage("student", (text, isSure) => {
  if (text === "") {
    if (wanted().student !== null) location.hash = "#";
    return;
  }
  const lower = text.toLowerCase();
  const found = students.find(({ name }) => name === text)
    ?? (isSure ? students.find(({ name, full }) => name.toLowerCase().startsWith(lower) || full.toLowerCase().includes(lower)) : undefined);
  if (found || isSure) location.hash = address({ student: found?.name ?? text });
});
globalThis.addEventListener("hashchange", () => {
  if (location.hash === "#main") return;
  draw();
  scrollTo(0, 0);
});
draw();
