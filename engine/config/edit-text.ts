import { isDeepStrictEqual } from 'node:util';
import { type Node, parseTree } from 'jsonc-parser';
import { isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import { alignLists } from './align-lists.ts';
import { arrangeList, indentOf, type Step } from './arrange-list.ts';
import { joinList, splitList } from './list-text.ts';
import { parseConfig } from './parse.ts';

/** A configuration as the text of a new file. */
export const printConfig = (written: JsonObject): string => `${JSON.stringify(written, null, 2)}\n`;

/**
 * Changes a configuration's text so that it says `wanted`. What stays the same stays as it was written, comments included; a
 * comment goes only with the line of a member that is taken out. A text that can't be read is written anew. The parser's own
 * `modify` would take comments of neighbours along.
 */
export const editConfigText = (text: string, wanted: JsonObject): string => {
  const source = text.replace(/^\uFEFF/, '');
  const old = parseConfig(source);
  const tree = parseTree(source, [], { allowTrailingComma: true });
  if ('faults' in old || !tree) return printConfig(wanted);
  const edit = new Edit(source, tree);
  const before = source.slice(0, tree.offset);
  const edited = before + edit.value(tree, old.written, wanted, '') + source.slice(tree.offset + tree.length);
  const check = parseConfig(edited);
  return 'written' in check && isDeepStrictEqual(check.written, wanted) ? edited : printConfig(wanted);
};

class Edit {
  readonly #source: string;
  readonly #eol: string;
  /** One step of indentation. */
  readonly #unit: string;

  constructor(source: string, root: Node) {
    this.#source = source;
    this.#eol = /\r\n|\r|\n/.exec(source)?.[0] ?? '\n';
    this.#unit = indentOf(splitList(source, root).items[0]?.lead ?? '') || '  ';
  }

  /** The text of a value; `indent` is that of the line on which it begins. */
  value(node: Node, old: Json | undefined, wanted: Json, indent: string): string {
    if (isDeepStrictEqual(old, wanted)) return this.#source.slice(node.offset, node.offset + node.length);
    if (node.type === 'object' && isJsonObject(old) && isJsonObject(wanted)) {
      return this.#list(node, ['{', '}'], indent, (inner) => this.#members(node, old, wanted, inner));
    }
    if (node.type === 'array' && Array.isArray(old) && Array.isArray(wanted)) {
      return this.#list(node, ['[', ']'], indent, (inner) => this.#elements(node, old, wanted, inner));
    }
    return this.#print(wanted, indent);
  }

  #members({ children = [] }: Node, old: JsonObject, wanted: JsonObject, indent: string): readonly Step[] {
    const names = children.map(({ children: [name] = [] }) => String(name?.value));
    const lastOf = new Map(names.map((name, index) => [name, index]));
    const steps = children.map((property, from): Step => {
      const name = names[from] ?? '';
      const value = property.children?.[1];
      const next = Object.hasOwn(wanted, name) ? wanted[name] : undefined;
      // Of two members of one name the last one counts.
      if (next === undefined || !value || lastOf.get(name) !== from) return { type: 'removed', from };
      const label = this.#source.slice(property.offset, value.offset);
      return { type: 'kept', from, text: label + this.value(value, old[name], next, indent) };
    });
    const added = Object.entries(wanted).flatMap(([name, value]): Step[] =>
      value === undefined || Object.hasOwn(old, name)
        ? []
        : [{ type: 'added', text: `${JSON.stringify(name)}: ${this.#print(value, indent)}` }],
    );
    return [...steps, ...added];
  }

  #elements({ children = [] }: Node, old: readonly Json[], wanted: readonly Json[], indent: string): readonly Step[] {
    const steps: Step[] = [];
    let added: Step[] = [];
    let at = 0;
    // What is new comes behind what goes, in whose place it may stand.
    const arriveAt = (from: number): void => {
      for (; at < from; at += 1) steps.push({ type: 'removed', from: at });
      steps.push(...added);
      added = [];
      at = from + 1;
    };
    for (const [index, from] of alignLists(old, wanted).entries()) {
      const value = wanted[index] ?? null;
      const node = from === undefined ? undefined : children[from];
      if (from === undefined || !node) {
        added.push({ type: 'added', text: this.#print(value, indent) });
      } else {
        arriveAt(from);
        steps.push({ type: 'kept', from, text: this.value(node, old[from], value, indent) });
      }
    }
    arriveAt(children.length);
    return steps;
  }

  #list(
    node: Node,
    brackets: readonly [string, string],
    indent: string,
    stepsFor: (inner: string) => readonly Step[],
  ): string {
    const list = splitList(this.#source, node);
    const inner = indentOf(list.items[0]?.lead ?? '') ?? indent + this.#unit;
    const changed = arrangeList(list, stepsFor(inner), { eol: this.#eol, inner, indent });
    return joinList(brackets, changed, this.#eol);
  }

  #print(value: Json, indent: string): string {
    return JSON.stringify(value, null, this.#unit).replaceAll('\n', this.#eol + indent);
  }
}
