// Requests to the server of a page.

/** Get an address. While the server says that its answer takes longer, wait as long as it asks for, and get it again. @param {string} address */
export async function answered(address) {
  for (;;) {
    const found = await fetch(address);
    if (found.status !== 202) return found;
    await new Promise((go) => setTimeout(go, 1000 * Number(found.headers.get("Retry-After") ?? 1)));
  }
}

/** The same as data; null if there is no answer. @param {string} address @returns {Promise<any>} */
export async function data(address) {
  const found = await answered(address).catch(() => null);
  return found?.ok ? found.json() : null;
}
