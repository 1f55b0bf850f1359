/** What tests of the viewer's scripts share: the module that the server makes (the games' drawing code), and a browser's few globals. */

import { registerHooks } from "node:module";

const games = ["evasion", "maze", "rectangle"];
const root = new URL("../../referee/", import.meta.url);
const imports = games.map((name) => `import { display as ${name} } from "${new URL(`games/${name}/display.js`, root)}";`).join("\n");
const displays = `data:text/javascript,${encodeURIComponent(`${imports}\nexport const DISPLAYS = { ${games.join(", ")} };`)}`;

registerHooks({
  resolve: (specifier, context, next) =>
    specifier.endsWith("/displays.js") ? { url: displays, format: "module", shortCircuit: true } : next(specifier, context),
});
globalThis.Path2D = class {};
globalThis.matchMedia = () => ({ matches: false, addEventListener() {} });
