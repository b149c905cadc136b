import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type AnyNode, parse } from 'acorn';
import { transformSync } from 'esbuild';

/** A regular expression of the sources. */
interface Expression {
  readonly file: string;
  /** As it is written: `/a+/g`. */
  readonly written: string;
  readonly pattern: RegExp;
  /** The method that it is handed to or that is called on it: `split`, `replace`, `exec` …; empty: it is kept first. */
  readonly method: string;
}

/** What the sources hold of regular expressions. */
interface Found {
  readonly expressions: readonly Expression[];
  /** Places where one is made from a text, which can't be judged here: `new RegExp(…)`, `text.match('…')`. */
  readonly made: readonly string[];
}

const root = resolve(import.meta.dirname, '../..');

/** All regular expressions of the service's and the web interface's sources. */
export const findExpressions = (
  folders: readonly string[] = ['engine', 'protocols', 'transformers', 'admin', 'ui/src'],
): Found => {
  const found = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => /(?<!\.d)\.[jt]sx?$/.test(file))
      .sort()
      .map((file) => expressionsIn(join(folder, file), readFileSync(join(root, folder, file), 'utf8'))),
  );
  return { expressions: found.flatMap(({ expressions }) => expressions), made: found.flatMap(({ made }) => made) };
};

/** The regular expressions of one source text. */
export const expressionsIn = (file: string, source: string): Found => {
  const loader = file.endsWith('x') ? 'tsx' : file.endsWith('.ts') ? 'ts' : 'js';
  const { code } = transformSync(source, { loader, target: 'esnext', jsx: 'automatic', legalComments: 'none' });
  const expressions: Expression[] = [];
  const made: string[] = [];
  const visit = (node: AnyNode, parents: readonly AnyNode[]): void => {
    if (node.type === 'Literal' && node.regex) {
      const { pattern, flags } = node.regex;
      const written = `/${pattern}/${flags}`;
      expressions.push({ file, written, pattern: new RegExp(pattern, flags), method: methodOf(node, parents.at(-1)) });
    }
    if (isMade(node)) made.push(`${file}: ${code.slice(node.start, node.end)}`);
    const around = [...parents.slice(-1), node];
    for (const member of Object.values(node)) {
      for (const child of Array.isArray(member) ? member : [member]) if (isNode(child)) visit(child, around);
    }
  };
  visit(parse(code, { ecmaVersion: 'latest', sourceType: 'module' }), []);
  return { expressions, made };
};

const isNode = (value: unknown): value is AnyNode =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';

/** `text.split(/…/)` and `/…/.exec(text)`. */
const methodOf = (node: AnyNode, parent: AnyNode | undefined): string => {
  if (parent?.type === 'CallExpression' && parent.arguments.some((argument) => argument === node)) {
    return parent.callee.type === 'MemberExpression' ? memberName(parent.callee) : '';
  }
  return parent?.type === 'MemberExpression' ? memberName(parent) : '';
};

const memberName = (node: AnyNode): string =>
  node.type === 'MemberExpression' && node.property.type === 'Identifier' ? node.property.name : '';

const isMade = (node: AnyNode): boolean => {
  if (node.type !== 'NewExpression' && node.type !== 'CallExpression') return false;
  if (node.callee.type === 'Identifier') return node.callee.name === 'RegExp';
  if (!['match', 'matchAll', 'search'].includes(memberName(node.callee))) return false;
  const [first] = node.arguments;
  return first?.type === 'TemplateLiteral' || (first?.type === 'Literal' && typeof first.value === 'string');
};
