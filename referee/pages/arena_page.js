// What the pages of an arena share: the theme, and parts that the server makes again. Without it a page shows what was so when it was asked for.

import { byId, part } from "./viewer/kit/dom.js";
import { fetched, keepingFocus, listenToButtons, replaceParts } from "./common.js";

/** Ask for the page again, as long as a part of it wants that: `data-every` is in milliseconds. @param {(fresh: Document) => void} renew */
function follow(renew) {
  const part = document.querySelector("[data-every]");
  if (!(part instanceof HTMLElement)) return;
  setTimeout(async () => {
    const fresh = document.hidden ? null : await fetched(location.href);
    if (fresh) keepingFocus(() => renew(fresh));
    follow(renew);
  }, Number(part.dataset.every));
}

/** Send the form with its progress, and say why it was refused. @param {HTMLFormElement} form */
function send(form) {
  const [sent, told, file] = [part("sent", HTMLProgressElement), byId("told"), part("file", HTMLInputElement).files?.[0]];
  const say = (/** @type {string} */ text) => {
    sent.hidden = true;
    told.textContent = text;
  };
  if (file && file.size > Number(form.dataset.most)) {
    say(`The file has ${file.size.toLocaleString("en")} bytes, which is more than the limit.`);
    return;
  }
  const asked = new XMLHttpRequest();
  asked.open("POST", form.action);
  asked.responseType = "document";
  asked.upload.addEventListener("progress", (event) => {
    sent.value = event.lengthComputable ? event.loaded / event.total : 0;
  });
  asked.addEventListener("load", () => {
    if (asked.status === 200) location.assign(asked.responseURL);
    else say(asked.response?.querySelector("main h2")?.textContent ?? `The server says ${asked.status}.`);
  });
  asked.addEventListener("error", () => say("The connection was lost before the file was sent. Try again."));
  say("");
  sent.hidden = false;
  asked.send(new FormData(form));
}

/** Let a file be dropped on the form, and show how much of it is sent. @param {HTMLFormElement} form */
function listenToForm(form) {
  byId("drop-words").hidden = false;
  for (const kind of ["dragover", "dragleave", "drop"]) form.addEventListener(kind, (event) => {
    event.preventDefault();
    form.classList.toggle("over", kind === "dragover");
    const files = event instanceof DragEvent && kind === "drop" ? event.dataTransfer?.files : null;
    if (files?.length) part("file", HTMLInputElement).files = files;
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(form);
  });
}

/** The link of an invitation has the token behind its #, which no server sees. It leaves the address, and a form asks whose it is. */
function openInvitation() {
  const token = location.hash.slice(1);
  const form = document.getElementById("sign-in");
  if (location.pathname !== "/sign-in" || !token || token === "main" || !(form instanceof HTMLFormElement)) return;
  history.replaceState(null, "", location.pathname);
  part("token", HTMLInputElement).value = token;
  const link = document.createElement("input");
  Object.assign(link, { type: "hidden", name: "link", value: "1" });
  form.append(link);
  form.submit();
}

/** Begin. `renew` puts the parts of a fresh page in place of the old ones, `repaint` follows another theme. @param {(fresh: Document) => void} [renew] @param {() => void} [repaint] */
export function showPage(renew = replaceParts, repaint) {
  listenToButtons(repaint);
  follow(renew);
  const form = document.getElementById("hand-in");
  if (form instanceof HTMLFormElement) listenToForm(form);
  openInvitation();
}
