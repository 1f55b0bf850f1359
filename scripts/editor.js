// The editor of the workshop, which scripts/bundle-editor puts into one file: Python, with one line that can be marked.

import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { pythonLanguage } from "@codemirror/lang-python";
import { bracketMatching, HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { EditorState, StateEffect, StateField } from "@codemirror/state";
import { Decoration, drawSelection, EditorView, highlightActiveLine, highlightSpecialChars, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const colors = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.self, tags.bool, tags.null], color: "var(--code-keyword)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--code-string)" },
  { tag: tags.comment, color: "var(--code-comment)", fontStyle: "italic" },
  { tag: [tags.number, tags.className], color: "var(--code-number)" },
  { tag: [tags.function(tags.variableName), tags.definition(tags.variableName)], color: "var(--code-name)" },
]);

const theme = EditorView.theme({
  "&": { height: "100%", color: "var(--code-text)", backgroundColor: "var(--code-ground)", fontSize: "14px" },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "-2px" },
  ".cm-scroller": { fontFamily: "ui-monospace, Menlo, Consolas, monospace", lineHeight: "1.5" },
  ".cm-content": { caretColor: "var(--code-text)" },
  // A long line goes on below its own text, not where Python would see another block.
  ".cm-line": { paddingLeft: "calc(6px + 10ch)", textIndent: "-10ch" },
  ".cm-cursor": { borderLeftColor: "var(--code-text)" },
  ".cm-gutters": { color: "var(--code-comment)", backgroundColor: "var(--code-ground)", border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--code-line)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--code-selection)",
  },
  ".cm-marked": { backgroundColor: "var(--code-marked)", boxShadow: "inset 3px 0 var(--code-mark)" },
});

const setMark = StateEffect.define();
const markedLine = StateField.define({
  create: () => Decoration.none,
  update(marks, change) {
    let marked = marks.map(change.changes);
    for (const effect of change.effects) {
      if (!effect.is(setMark)) continue;
      const isThere = effect.value >= 1 && effect.value <= change.state.doc.lines;
      const line = Decoration.line({ class: "cm-marked" });
      marked = isThere ? Decoration.set(line.range(change.state.doc.line(effect.value).from)) : Decoration.none;
    }
    return marked;
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** Puts an editor into a shadow root, and returns what the page does with it. `changed` is called after each change of the text. */
export function edit(root, label, changed) {
  const extensions = [
    lineNumbers(), highlightSpecialChars(), history(), drawSelection(), indentOnInput(), bracketMatching(), highlightActiveLine(), EditorView.lineWrapping,
    indentUnit.of("    "), pythonLanguage, syntaxHighlighting(colors), theme, markedLine,
    keymap.of([...defaultKeymap.filter(({ key }) => key !== "Mod-Enter"), ...historyKeymap, indentWithTab]),
    EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false", tabindex: "0" }),
    EditorView.updateListener.of((update) => update.docChanged && changed()),
  ];
  const view = new EditorView({ state: EditorState.create({ extensions }), parent: root, root });
  return {
    text: () => view.state.doc.toString(),
    setText: (text) => view.setState(EditorState.create({ doc: text, extensions })),
    mark(number) {
      view.dispatch({ effects: setMark.of(number) });
      if (number) view.dispatch({ effects: EditorView.scrollIntoView(view.state.doc.line(Math.min(number, view.state.doc.lines)).from, { y: "center" }) });
    },
    focus: () => view.focus(),
  };
}
