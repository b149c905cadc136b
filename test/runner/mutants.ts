import { parse } from '@babel/parser';

/** One small change of a source. */
export interface Mutant {
  /** What is changed, in a few words. */
  readonly what: string;
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
  /** The whole expression or statement that the change is in. */
  readonly within: Span & { readonly kind: 'expression' | 'statement' };
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/** A node of the syntax tree; its members differ by type. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [member: string]: unknown;
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && 'start' in value && 'end' in value;

const operators: Readonly<Record<string, string>> = {
  '===': '!==',
  '!==': '===',
  '==': '!=',
  '!=': '==',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '%': '*',
  '&': '|',
  '|': '&',
  '<<': '>>',
  '>>': '<<',
  '>>>': '<<',
  '&&': '||',
  '||': '&&',
  '??': '&&',
  '+=': '-=',
  '-=': '+=',
  '*=': '/=',
  '/=': '*=',
};

/** Members whose text is for people alone: no behaviour hangs on it. */
const prose = new Set(['about', 'description', 'title']);

/** Calls whose second argument is such a text: the note on a loss. */
const notes = new Set(['drop', 'approximate']);

/** Types are gone when the code runs; of these nodes only the expression stays. */
const expressionsOfTypes = new Set(['TSAsExpression', 'TSSatisfiesExpression', 'TSNonNullExpression']);

/** All small changes of a TypeScript source that leave it a program. */
export const mutantsOf = (source: string): readonly Mutant[] => {
  const mutants: Mutant[] = [];
  const lastBreaks = new Set<Node>();
  const add = (what: string, { start, end }: Span, replacement: string, within: Span = { start, end }) => {
    if (source.slice(start, end) === replacement) return;
    const kind = replacement.endsWith(';') ? 'statement' : 'expression';
    mutants.push({ what, start, end, replacement, within: { start: within.start, end: within.end, kind } });
  };
  const text = ({ start, end }: Node): string => source.slice(start, end);

  const ofNode = (node: Node, chain: Node): void => {
    const { type, left, right, operator, test, consequent, alternate, body, argument, expression } = node;
    switch (type) {
      case 'BinaryExpression':
      case 'LogicalExpression':
      case 'AssignmentExpression': {
        const other = typeof operator === 'string' ? operators[operator] : undefined;
        if (other === undefined || !isNode(left) || !isNode(right)) break;
        const between = source.slice(left.end, right.start);
        const at = left.end + between.indexOf(String(operator));
        // Mixed without brackets, these two are no program.
        const replaced = `(${text(left)}) ${other} (${text(right)})`;
        if (type === 'LogicalExpression') add(`${operator} becomes ${other}`, node, `(${replaced})`);
        else add(`${operator} becomes ${other}`, { start: at, end: at + String(operator).length }, other, node);
        break;
      }
      case 'UnaryExpression':
        if (operator === '!' && isNode(argument)) add('not is gone', node, `(${text(argument)})`);
        if (operator === '-' && isNode(argument)) add('minus is gone', node, `(${text(argument)})`);
        break;
      case 'UpdateExpression':
        if (isNode(argument))
          add(
            'counts the other way',
            node,
            text(node).replace(/\+\+|--/, (sign) => (sign === '++' ? '--' : '++')),
          );
        break;
      case 'BooleanLiteral':
        add('the other boolean', node, text(node) === 'true' ? 'false' : 'true');
        break;
      case 'NumericLiteral':
        // One more or less of many is often as good.
        add('another number', node, Number(text(node)) < 100 ? `(${text(node)} + 1)` : `(${text(node)} * 2)`);
        break;
      case 'StringLiteral':
        add('another text', node, text(node).length > 2 ? "''" : "'mutant'");
        break;
      case 'TemplateLiteral':
        add('another text', node, "''");
        break;
      case 'ConditionalExpression':
        if (isNode(test) && isNode(consequent) && isNode(alternate)) {
          add('the other branch', test, `!(${text(test)})`);
        }
        break;
      case 'IfStatement':
      case 'WhileStatement':
        if (isNode(test)) {
          add('the condition never holds', test, 'false');
          if (type === 'IfStatement') add('the condition always holds', test, 'true');
        }
        break;
      case 'ExpressionStatement':
        if (isNode(expression)) add('the statement is gone', node, ';');
        break;
      case 'ReturnStatement':
        // `return;` does what `return false;` does.
        if (isNode(argument) && !['undefined', 'false'].includes(text(argument)))
          add('nothing is returned', node, 'return;');
        break;
      case 'ContinueStatement':
      case 'BreakStatement':
        if (!lastBreaks.has(node)) add('it goes on', node, ';');
        break;
      case 'SwitchStatement': {
        const last: unknown = Array.isArray(node.cases) ? node.cases.at(-1)?.consequent?.at(-1) : undefined;
        // The switch ends there anyway.
        if (isNode(last)) lastBreaks.add(last);
        break;
      }
      case 'ArrowFunctionExpression':
        if (isNode(body) && body.type !== 'BlockStatement') add('nothing is returned', body, 'undefined');
        break;
      case 'ArrayExpression':
        if (Array.isArray(node.elements) && node.elements.length > 0) add('an empty list', node, '[]');
        break;
      case 'OptionalMemberExpression':
      case 'OptionalCallExpression': {
        if (node.optional !== true) break;
        const head = isNode(node.object) ? node.object : node.callee;
        if (!isNode(head)) break;
        const at = source.indexOf('?.', head.end);
        const next = source[at + 2];
        const replacement = next === '[' || next === '(' ? '' : '.';
        add('the question mark is gone', { start: at, end: at + 2 }, replacement, chain);
        break;
      }
      case 'SpreadElement':
        if (isNode(argument)) add('nothing is spread', argument, '[]');
        break;
    }
  };

  /** `chain`: the outermost of the optional accesses and calls (`a?.b.c(d)`) that the node is the head of. */
  const visit = (node: Node, chain: Node = node): void => {
    if (node.type.startsWith('TS') && !expressionsOfTypes.has(node.type)) return;
    if (isUnreachable(node)) return;
    if (node.type === 'ImportDeclaration' || node.type === 'ExportAllDeclaration') return;
    ofNode(node, chain);
    const heads = node.type.startsWith('Optional') || node.type === 'TSNonNullExpression';
    for (const [member, value] of Object.entries(node)) {
      if (member === 'typeAnnotation' || member === 'typeParameters' || member === 'returnType') continue;
      // Names of members, and sources of exports.
      if ((member === 'key' || member === 'source') && node.computed !== true) continue;
      if (node.type === 'TaggedTemplateExpression' && member === 'quasi') continue;
      if (node.type === 'ObjectProperty' && member === 'value' && isProse(node)) continue;
      for (const [index, child] of (Array.isArray(value) ? value : [value]).entries()) {
        if (!isNode(child) || (member === 'arguments' && index === 1 && isLoss(node))) continue;
        visit(child, heads && ['object', 'callee', 'expression'].includes(member) ? chain : child);
      }
    }
  };
  const { program } = parse(source, { sourceType: 'module', plugins: ['typescript'] });
  const root: unknown = program;
  if (isNode(root)) visit(root);
  return mutants;
};

/**
 * The source with these changes in it, each of which is made while `changed` tells so for its number: one program can be judged
 * with each change in turn. Only one may be made at a time.
 */
export const withSwitches = (
  source: string,
  mutants: readonly (Mutant & { readonly number: number })[],
  changed: string,
): string => {
  const sorted = [...mutants].sort(
    ({ within: one }, { within: other }) => one.start - other.start || other.end - one.end,
  );
  /** The source from one place to another, with those of the sorted changes that lie in between. */
  const render = (from: number, to: number, inside: typeof sorted): string => {
    const [first] = inside;
    if (first === undefined) return source.slice(from, to);
    const { start, end, kind } = first.within;
    const isHere = ({ within }: Mutant) => within.start === start && within.end === end;
    const here = inside.filter(isHere);
    const nested = inside.filter((mutant) => !isHere(mutant) && mutant.within.end <= end);
    const unchanged = render(start, end, nested);
    const choice = here.reduceRight((otherwise, mutant) => {
      const made = source.slice(start, mutant.start) + mutant.replacement + source.slice(mutant.end, end);
      const condition = `${changed}(${mutant.number})`;
      return kind === 'statement'
        ? `{ if (${condition}) { ${made} } else { ${otherwise} } }`
        : `(${condition} ? (${made}) : (${otherwise}))`;
    }, unchanged);
    const after = inside.filter(({ within }) => within.start >= end);
    return source.slice(from, start) + choice + render(end, to, after);
  };
  return render(0, source.length, sorted);
};

/** `… satisfies never`, which no program gets to. */
const isUnreachable = ({ type, argument, expression, typeAnnotation }: Node): boolean =>
  type === 'TSSatisfiesExpression'
    ? isNode(typeAnnotation) && typeAnnotation.type === 'TSNeverKeyword'
    : (type === 'ReturnStatement' && isNode(argument) && isUnreachable(argument)) ||
      (type === 'ExpressionStatement' && isNode(expression) && isUnreachable(expression));

const isLoss = ({ callee }: Node): boolean =>
  isNode(callee) &&
  isNode(callee.property) &&
  typeof callee.property.name === 'string' &&
  notes.has(callee.property.name);

const isProse = ({ key }: Node): boolean => isNode(key) && typeof key.name === 'string' && prose.has(key.name);
