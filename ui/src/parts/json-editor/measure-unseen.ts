import type { EditorView } from '@codemirror/view';

/**
 * Measures an editor outside the window, which CodeMirror doesn't: it guesses the heights of lines until the editor is scrolled to,
 * and line numbers stand beside other lines. For the time of the call, it lies unseen in the window.
 */
export const measureUnseen = (view: EditorView, place: HTMLElement): void => {
  const { top, bottom, width, height } = place.getBoundingClientRect();
  if (width === 0 || (top < window.innerHeight && bottom > 0)) return;
  // Its place stays, so nothing else moves.
  place.style.height = `${height}px`;
  const pinned = { position: 'fixed', visibility: 'hidden', top: '0', left: '0', width: `${place.clientWidth}px` };
  for (const [name, value] of Object.entries(pinned)) view.dom.style.setProperty(name, value, 'important');
  view.requestMeasure();
  // Asking for coordinates measures at once.
  view.coordsAtPos(0);
  for (const name of Object.keys(pinned)) view.dom.style.removeProperty(name);
  place.style.removeProperty('height');
};
