import { lazy, Suspense } from 'react';
import type { JsonEditorProps } from './props.ts';
import './json-editor.css';

const Editor = lazy(async () => ({ default: (await import('./editor.tsx')).Editor }));

/** Shows and edits JSON; malformed text is marked. Its code is loaded when needed. */
export const JsonEditor = (props: JsonEditorProps) => (
  <Suspense fallback={<div className="json-editor json-editor-waiting" />}>
    <Editor {...props} />
  </Suspense>
);
