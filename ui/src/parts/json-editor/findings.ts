import { syntaxTree } from '@codemirror/language';
import { type Diagnostic, setDiagnostics } from '@codemirror/lint';
import type { EditorState, TransactionSpec } from '@codemirror/state';
import type { SyntaxNode } from '@lezer/common';
import type { JsonEditorProps } from './props.ts';

type Findings = NonNullable<JsonEditorProps['findings']>;

/** Marks the findings in the text and removes previous marks. */
export const findingsChanged = (state: EditorState, findings: Findings): TransactionSpec =>
  setDiagnostics(
    state,
    findings.map((finding) => toDiagnostic(state, finding)),
  );

const toDiagnostic = (state: EditorState, { path, message, severity = 'error' }: Findings[number]): Diagnostic => {
  const node = nodeAt(state, path);
  return {
    from: node.from,
    to: Math.max(node.from, node.to),
    severity,
    message: path === '' ? message : `${path}: ${message}`,
  };
};

/** The value at a path, or the nearest one around it. */
const nodeAt = (state: EditorState, path: string): { readonly from: number; readonly to: number } => {
  let node = syntaxTree(state).topNode.firstChild;
  for (const key of path.match(/[^.[\]]+/g) ?? []) {
    const next = node && childAt(state, node, key);
    if (!next) break;
    node = next;
  }
  if (!node) return { from: 0, to: 0 };
  const isLarge = state.doc.lineAt(node.from).number !== state.doc.lineAt(node.to).number;
  return isLarge ? { from: node.from, to: node.from + 1 } : node;
};

const childAt = (state: EditorState, node: SyntaxNode, key: string): SyntaxNode | null => {
  if (node.name === 'Array') {
    const values = children(node).filter(({ name }) => !/^[[\],⚠]$/.test(name));
    return values[Number(key)] ?? null;
  }
  const property = children(node).find((child) => {
    const name = child.name === 'Property' ? child.firstChild : null;
    return name !== null && unquote(state.sliceDoc(name.from, name.to)) === key;
  });
  return property?.lastChild ?? null;
};

const children = (node: SyntaxNode): readonly SyntaxNode[] => {
  const list: SyntaxNode[] = [];
  for (let child = node.firstChild; child; child = child.nextSibling) list.push(child);
  return list;
};

const unquote = (text: string): string => {
  try {
    return String(JSON.parse(text));
  } catch {
    return text;
  }
};
