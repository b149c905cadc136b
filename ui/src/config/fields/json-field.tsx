import { type ReactNode, useState } from 'react';
import type { Finding } from '../../api/config/config.ts';
import type { Json } from '../../api/json.ts';
import { sentence } from '../../format/figures.ts';
import { JsonEditor } from '../../parts/json-editor/json-editor.tsx';
import { useStore } from '../../state/store.ts';
import { type Parsed, parseText } from './parse-text.ts';
import { sameJson } from './same-json.ts';
import { keepText, unreadableTexts } from './unreadable-texts.ts';

/** Edits a value as JSON. Malformed text blocks saving, but is kept. */
export const JsonField = ({
  label,
  hint,
  error,
  path,
  value,
  onChange,
  findings,
  problemOf,
  unlabelled = false,
  maxLines = 16,
}: {
  readonly label: string;
  readonly hint?: ReactNode;
  /** The error of a value that can be read. */
  readonly error?: string | undefined;
  readonly path: string;
  readonly value: Json | undefined;
  /** `undefined`: the text is empty. */
  readonly onChange: (value: Json | undefined) => void;
  readonly findings?: readonly (Finding & { readonly severity?: 'error' | 'warning' })[];
  /** Why a value is invalid; follows the field's name in a sentence. */
  readonly problemOf?: (value: Json) => string | undefined;
  /** The label is visually hidden. */
  readonly unlabelled?: boolean;
  readonly maxLines?: number;
}) => {
  const unread = useStore(unreadableTexts).get(path);
  const [typed, setTyped] = useState('');
  // The typed text stays while it has the draft's value.
  const isTyped = typed.trim() === '' ? value === undefined : isValue(typed, value);
  const shown = unread ?? (isTyped ? typed : JSON.stringify(value, null, 2));
  const read = (text: string): Parsed => {
    const parsed = parseText(text);
    const problem = 'value' in parsed ? problemOf?.(parsed.value) : undefined;
    return problem === undefined ? parsed : { problem };
  };
  const problem = unread === undefined ? undefined : read(unread);
  const change = (text: string): void => {
    if (text === shown) return;
    setTyped(text);
    const parsed = text.trim() === '' ? { value: undefined } : read(text);
    keepText(path, 'problem' in parsed ? text : undefined);
    if (!('problem' in parsed)) onChange(parsed.value);
  };
  return (
    <div className="field" data-path={path} tabIndex={-1}>
      {!unlabelled && <span className="field-label">{label}</span>}
      <JsonEditor label={label} value={shown} onChange={change} maxLines={maxLines} {...(findings && { findings })} />
      {hint !== undefined && <p className="field-hint">{hint}</p>}
      {problem && 'problem' in problem ? (
        <p className="field-error">{sentence(`${label} ${problem.problem}`)}</p>
      ) : (
        error !== undefined && <p className="field-error">{error}</p>
      )}
    </div>
  );
};

const isValue = (text: string, value: Json | undefined): boolean => {
  const parsed = parseText(text);
  return 'value' in parsed && sameJson(parsed.value, value);
};
