import type { Finding } from '../../api/config.ts';
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
