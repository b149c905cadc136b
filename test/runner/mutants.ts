import { parse } from '@babel/parser';

/** One small change of a source. */
export interface Mutant {
  /** What is changed, in a few words. */
  readonly what: string;
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
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

/** Types are gone when the code runs; of these nodes only the expression stays. */
const expressionsOfTypes = new Set(['TSAsExpression', 'TSSatisfiesExpression', 'TSNonNullExpression']);

/** All small changes of a TypeScript source that leave it a program. */
export const mutantsOf = (source: string): readonly Mutant[] => {
  const mutants: Mutant[] = [];
  const add = (what: string, { start, end }: Pick<Node, 'start' | 'end'>, replacement: string) => {
    if (source.slice(start, end) !== replacement) mutants.push({ what, start, end, replacement });
  };
  const text = ({ start, end }: Node): string => source.slice(start, end);

  const ofNode = (node: Node): void => {
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
        else add(`${operator} becomes ${other}`, { start: at, end: at + String(operator).length }, other);
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
        add('another number', node, `(${text(node)} + 1)`);
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
        if (isNode(argument)) add('nothing is returned', node, 'return;');
        break;
      case 'ContinueStatement':
      case 'BreakStatement':
        add('it goes on', node, ';');
        break;
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
        add('the question mark is gone', { start: at, end: at + 2 }, next === '[' || next === '(' ? '' : '.');
        break;
      }
      case 'SpreadElement':
        if (isNode(argument)) add('nothing is spread', node, '...[]');
        break;
    }
  };

  const visit = (node: Node): void => {
    if (node.type.startsWith('TS') && !expressionsOfTypes.has(node.type)) return;
    if (node.type === 'ImportDeclaration' || node.type === 'ExportAllDeclaration') return;
    ofNode(node);
    for (const [member, value] of Object.entries(node)) {
      if (member === 'typeAnnotation' || member === 'typeParameters' || member === 'returnType') continue;
      // Names of members, and sources of exports.
      if ((member === 'key' || member === 'source') && node.computed !== true) continue;
      if (node.type === 'ObjectProperty' && member === 'value' && isProse(node)) continue;
      for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) visit(child);
    }
  };
  const { program } = parse(source, { sourceType: 'module', plugins: ['typescript'] });
  const root: unknown = program;
  if (isNode(root)) visit(root);
  return mutants;
};

const isProse = ({ key }: Node): boolean => isNode(key) && typeof key.name === 'string' && prose.has(key.name);
