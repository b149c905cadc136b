import { Compartment, EditorState } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import { baseExtensions } from './extensions.ts';
import { findingsChanged } from './findings.ts';
import { measureUnseen } from './measure-unseen.ts';
import type { JsonEditorProps } from './props.ts';

/** The editor, loaded by `JsonEditor`. */
export const Editor = ({ label, value, onChange, findings = noFindings, maxLines = 30 }: JsonEditorProps) => {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const changed = useRef(onChange);
  changed.current = onChange;
  const first = useRef({ value, label });
  const readOnly = onChange === undefined;

  useEffect(() => {
    if (!place.current) return;
    // In a shadow tree the editor's styles are constructed sheets, which a strict policy allows; <style> elements it doesn't.
    const root = place.current.shadowRoot ?? place.current.attachShadow({ mode: 'open' });
    const editor = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: first.current.value,
        extensions: [
          baseExtensions(readOnly, maxLines),
          names.of(EditorView.contentAttributes.of({ 'aria-label': first.current.label })),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) changed.current?.(update.state.doc.toString());
          }),
        ],
      }),
    });
    view.current = editor;
    measureUnseen(editor, place.current);
    return () => editor.destroy();
  }, [readOnly, maxLines]);

  useEffect(() => {
    first.current = { value, label };
    const editor = view.current;
    if (!editor || editor.state.doc.toString() === value) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } });
    if (place.current) measureUnseen(editor, place.current);
  }, [value, label]);

  useEffect(() => {
    view.current?.dispatch({ effects: names.reconfigure(EditorView.contentAttributes.of({ 'aria-label': label })) });
  }, [label]);

  useEffect(() => {
    const editor = view.current;
    if (editor) editor.dispatch(findingsChanged(editor.state, findings));
  }, [findings]);

  return <div ref={place} className="json-editor" />;
};

const names = new Compartment();

const noFindings: NonNullable<JsonEditorProps['findings']> = [];
