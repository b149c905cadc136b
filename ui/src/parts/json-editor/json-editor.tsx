import { lazy, Suspense } from 'react';
import type { Finding } from '../../api/config.ts';
import './json-editor.css';

const Editor = lazy(async () => ({ default: (await import('./editor.tsx')).Editor }));

/** What the editor shows, and whom it tells. */
export interface JsonEditorProps {
  /** What is edited, for screen readers. */
  readonly label: string;
  readonly value: string;
  /** Without it, the text can only be read. */
  readonly onChange?: (text: string) => void;
  /** Marked where they are; a path like `Providers[0].baseUrl` finds its place by itself. */
  readonly findings?: readonly (Finding & { readonly severity?: 'error' | 'warning' })[];
  /** The editor grows with its text up to this many lines. Default: 30. */
  readonly maxLines?: number;
}

/** Shows and edits JSON. Malformed text is marked. Its code is fetched when it is first needed. */
export const JsonEditor = (props: JsonEditorProps) => (
  <Suspense fallback={<div className="json-editor json-editor-waiting" />}>
    <Editor {...props} />
  </Suspense>
);
