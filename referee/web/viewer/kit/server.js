// Requests to the server of a page.

/** Get an address. While the server says that its answer takes longer, wait as long as it asks for, and get it again. @param {string} address */
export async function answered(address) {
  for (;;) {
    const found = await fetch(address);
    if (found.status !== 202) return found;
    await new Promise((go) => setTimeout(go, 1000 * Number(found.headers.get("Retry-After") ?? 1)));
  }
}
