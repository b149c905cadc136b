import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json, jsonParseLinter } from '@codemirror/lang-json';
import {
  bracketMatching,
  codeFolding,
  foldGutter,
  foldKeymap,
  HighlightStyle,
  indentOnInput,
  syntaxHighlighting,
} from '@codemirror/language';
import { linter, lintGutter, lintKeymap } from '@codemirror/lint';
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import { EditorState, type Extension } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';

/** The extensions of every JSON editor: colours, folding, search, undo. Tab leaves the editor. */
export const baseExtensions = (readOnly: boolean, maxLines: number): Extension => [
  lineNumbers(),
  codeFolding(),
  foldGutter(),
  history(),
  drawSelection(),
  indentOnInput(),
  bracketMatching(),
  highlightSelectionMatches(),
  search({ top: true }),
  json(),
  syntaxHighlighting(colours),
  EditorView.lineWrapping,
  // Editable content has the focus anyway, but accessibility checks look for a tabindex.
  EditorView.contentAttributes.of({ tabindex: '0' }),
  keymap.of([...defaultKeymap, ...historyKeymap, ...foldKeymap, ...searchKeymap, ...lintKeymap]),
  EditorState.tabSize.of(2),
  aboveBar,
  theme,
  EditorView.theme({ '.cm-scroller': { maxHeight: `${maxLines * 1.5}em` } }),
  readOnly
    ? [EditorState.readOnly.of(true)]
    : [highlightActiveLine(), lintGutter(), linter(wellFormed, { delay: 300 })],
];

/** Keeps the line that is edited above the bar at the page's foot, which lies on the editor. */
const aboveBar = EditorView.updateListener.of(({ view, docChanged, selectionSet }) => {
  if (!view.hasFocus || !(docChanged || selectionSet)) return;
  view.requestMeasure({
    read: () => {
      const cursor = view.coordsAtPos(view.state.selection.main.head);
      const bar = document.querySelector('.save-bar')?.getBoundingClientRect();
      return cursor && bar ? cursor.bottom - bar.top : 0;
    },
    write: (hidden) => {
      if (hidden > 0) window.scrollBy(0, hidden + view.defaultLineHeight);
    },
  });
});

/** An empty text isn't an error yet. */
const wellFormed = (view: EditorView) => (view.state.doc.length === 0 ? [] : jsonParseLinter()(view));

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--accent)' },
  { tag: tags.string, color: 'var(--ok)' },
  { tag: tags.number, color: 'var(--warn)' },
  { tag: [tags.bool, tags.null], color: 'var(--bad)' },
]);

const theme = EditorView.theme({
  '&': { color: 'var(--ink)', backgroundColor: 'var(--inset)', fontSize: '0.8125rem' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.5', overflow: 'auto' },
  '.cm-content': { caretColor: 'var(--ink)' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-gutters': { backgroundColor: 'var(--inset)', color: 'var(--ink-soft)', border: 'none' },
  '.cm-activeLine': { backgroundColor: 'var(--hover)' },
  '.cm-activeLineGutter': { backgroundColor: 'var(--hover)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    background: 'color-mix(in oklab, var(--accent), transparent 72%)',
  },
  '.cm-foldPlaceholder': { backgroundColor: 'var(--hover)', border: 'none', color: 'var(--ink-soft)' },
  '.cm-tooltip, .cm-panels': { backgroundColor: 'var(--raised)', color: 'var(--ink)', borderColor: 'var(--line)' },
  '.cm-panels': { fontFamily: 'var(--sans)' },
  '.cm-textfield, .cm-button': {
    backgroundColor: 'var(--panel)',
    backgroundImage: 'none',
    color: 'var(--ink)',
    border: '1px solid var(--edge)',
    borderRadius: '4px',
  },
  '.cm-searchMatch': { backgroundColor: 'var(--warn-soft)', outline: '1px solid var(--warn)' },
});
