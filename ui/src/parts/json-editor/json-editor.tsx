import { lazy, Suspense } from 'react';
import type { JsonEditorProps } from './props.ts';
import './json-editor.css';

const Editor = lazy(async () => ({ default: (await import('./editor.tsx')).Editor }));

/** Shows and edits JSON. Malformed text is marked. Its code is fetched when it is first needed. */
export const JsonEditor = (props: JsonEditorProps) => (
  <Suspense fallback={<div className="json-editor json-editor-waiting" />}>
    <Editor {...props} />
  </Suspense>
);
