// The beginning of a page that waited for its replay.

/** Starts the viewer. @param {object} settings the page's configuration */
const begin = (settings) => {
  const config = document.getElementById("page");
  const { version } = JSON.parse(config?.textContent || "{}");
  const made = document.createElement("div");
  made.id = "page";
  made.hidden = true;
  made.textContent = JSON.stringify({ server: false, version, ...settings });
  config?.replaceWith(made);
  viewer();
};
