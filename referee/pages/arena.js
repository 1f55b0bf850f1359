// The pages of an arena: the theme, and parts that the server makes again. Without it a page shows what was so when it was asked for.

import { fetched, keepingFocus, listenToButtons, replaceParts } from "./common.js";

/** Replace the parts of the page. A picture that is the same stays, so that it isn't loaded again. @param {Document} fresh */
function renew(fresh) {
  const old = new Map([...document.images].map((image) => [image.getAttribute("src"), image]));
  /** @type {[HTMLImageElement, HTMLImageElement][]} */
  const same = [];
  for (const image of fresh.images) {
    const known = old.get(image.getAttribute("src"));
    if (!known) continue;
    same.push([image, known]);
    image.removeAttribute("src");
  }
  keepingFocus(() => {
    replaceParts(fresh);
    for (const [image, known] of same) image.replaceWith(known);
  });
}

/** Ask for the page again, as long as a part of it wants that: `data-every` is in milliseconds. */
function follow() {
  const part = document.querySelector("[data-every]");
  if (!(part instanceof HTMLElement)) return;
  setTimeout(async () => {
    const fresh = document.hidden ? null : await fetched(location.href);
    if (fresh) renew(fresh);
    follow();
  }, Number(part.dataset.every));
}

listenToButtons();
follow();
