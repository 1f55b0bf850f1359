// A button beside each block of commands or code that copies it. Output has none.
for (const block of document.querySelectorAll("div.highlight-sh, div.highlight-console, div.highlight-python, div.highlight-toml, div.highlight-json")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    const text = block.querySelector("pre")?.textContent ?? "";
    await navigator.clipboard.writeText(text.replaceAll(/^\$ /gm, "").trimEnd());
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy"), 1600);
  });
  block.append(button);
}
// What the theme leaves out for those who hear the page or have no pointer.
for (const block of document.querySelectorAll("pre")) block.tabIndex = 0;
for (const caption of document.querySelectorAll(".caption[role=heading]")) caption.ariaLevel = "2";
document.querySelector(".sidebar-drawer")?.setAttribute("aria-label", "Pages");
