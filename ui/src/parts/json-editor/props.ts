import type { Finding } from '../../api/config/config.ts';
/** The props of the editor. */
export interface JsonEditorProps {
  /** The label, for screen readers. */
  readonly label: string;
  readonly value: string;
  /** Without it, the editor is read-only. */
  readonly onChange?: (text: string) => void;
  /** Marked at their paths, such as `Providers[0].baseUrl`. */
  readonly findings?: readonly (Finding & { readonly severity?: 'error' | 'warning' })[];
  /** The editor grows with its text up to this many lines. Default: 30. */
  readonly maxLines?: number;
}
