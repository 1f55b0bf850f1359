// Text, pictures and files out of the page: the clipboard, with a way around it where the browser has none, and downloads.

import { el } from "../kit/dom.js";

/** For how long a button says that it has copied. */
const TOLD_MS = 1600;

/** Copy a text; false if the browser refuses. @param {string} text */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelected(text);
  }
}

/** The older way, for pages that are neither from this machine nor encrypted. @param {string} text */
function copySelected(text) {
  const place = el("textarea", { class: "unseen", "aria-hidden": "true", tabindex: "-1" });
  place.value = text;
  const before = document.activeElement;
  // Inside of an open dialog, because all else can't have the focus.
  (document.querySelector("dialog[open]") ?? document.body).append(place);
  place.select();
  let isDone = false;
  try {
    isDone = document.execCommand("copy");
  } catch {
    // Then there is no way.
  }
  place.remove();
  if (before instanceof HTMLElement) before.focus();
  return isDone;
}

/**
 * Copy a picture; false if the browser refuses.
 * @param {Blob} picture
 */
export async function copyPicture(picture) {
  try {
    await navigator.clipboard.write([new ClipboardItem({ [picture.type]: picture })]);
    return true;
  } catch {
    return false;
  }
}

/** Hand a file to the person. @param {Blob} data @param {string} name */
export function save(data, name) {
  const address = URL.createObjectURL(data);
  el("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/**
 * A button that copies a text, and says so.
 * @param {string} label what is copied, for those who hear the page
 * @param {() => string} text
 * @param {string} [words] what the button says
 */
export function copyButton(label, text, words = "copy") {
  let timer = 0;
  const button = el("button", {
    type: "button", class: "copy", "aria-label": `${words} ${label}`,
    onclick: async () => {
      const isDone = await copyText(text());
      button.textContent = isDone ? "copied" : "not allowed";
      button.setAttribute("aria-label", `${button.textContent}: ${label}`);
      clearTimeout(timer);
      timer = window.setTimeout(() => {
        button.textContent = words;
        button.setAttribute("aria-label", `${words} ${label}`);
      }, TOLD_MS);
    },
  }, words);
  return button;
}

/** A word of a command line, as a shell reads it. @param {string} word */
export function quoted(word) {
  return /^[\w@%+=:,./-]+$/.test(word) && !word.startsWith("-") ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
