import { isDeepStrictEqual } from 'node:util';
import { type Node, parseTree } from 'jsonc-parser';
import { isJsonObject, type Json, type JsonObject } from '../../model/json/json.ts';
import { parseConfig } from '../parse.ts';
import { matchItems } from './match-items.ts';
import { type ItemChange, indentOf, rebuildList } from './rebuild-list.ts';
import { joinList, splitList } from './split-list.ts';

/** Formats a configuration as the text of a new file. */
export const printConfig = (source: JsonObject): string => `${JSON.stringify(source, null, 2)}\n`;

/**
 * Edits a configuration's text so that its value becomes `wanted`. Unchanged parts keep their text, comments included; a
 * comment is only removed with the line of a removed member. Invalid text is rewritten. The parser's own `modify` would remove
 * comments of adjacent members.
 */
export const editConfigText = (text: string, wanted: JsonObject): string => {
  const given = text.replace(/^\uFEFF/, '');
  const old = parseConfig(given);
  const tree = parseTree(given, [], { allowTrailingComma: true });
  if ('faults' in old || !tree) return printConfig(wanted);
  const edit = new Edit(given, tree);
  const before = given.slice(0, tree.offset);
  const edited = before + edit.value(tree, old.source, wanted, '') + given.slice(tree.offset + tree.length);
  const check = parseConfig(edited);
  return 'source' in check && isDeepStrictEqual(check.source, wanted) ? edited : printConfig(wanted);
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

  /** The text of a value; `indent` is the indentation of the line on which it starts. */
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

  #members({ children = [] }: Node, old: JsonObject, wanted: JsonObject, indent: string): readonly ItemChange[] {
    const names = children.map(({ children: [name] = [] }) => String(name?.value));
    const lastOf = new Map(names.map((name, index) => [name, index]));
    const changes = children.map((property, from): ItemChange => {
      const name = names[from] ?? '';
      const value = property.children?.[1];
      const next = Object.hasOwn(wanted, name) ? wanted[name] : undefined;
      // The last of several members with the same name counts.
      if (next === undefined || !value || lastOf.get(name) !== from) return { type: 'removed', from };
      const label = this.#source.slice(property.offset, value.offset);
      return { type: 'kept', from, text: label + this.value(value, old[name], next, indent) };
    });
    const added = Object.entries(wanted).flatMap(([name, value]): ItemChange[] =>
      value === undefined || Object.hasOwn(old, name)
        ? []
        : [{ type: 'added', text: `${JSON.stringify(name)}: ${this.#print(value, indent)}` }],
    );
    return [...changes, ...added];
  }

  #elements(
    { children = [] }: Node,
    old: readonly Json[],
    wanted: readonly Json[],
    indent: string,
  ): readonly ItemChange[] {
    const changes: ItemChange[] = [];
    let added: ItemChange[] = [];
    let at = 0;
    // Added items follow removed ones, which they may replace.
    const flushUpTo = (from: number): void => {
      for (; at < from; at += 1) changes.push({ type: 'removed', from: at });
      changes.push(...added);
      added = [];
      at = from + 1;
    };
    for (const [index, from] of matchItems(old, wanted).entries()) {
      const value = wanted[index] ?? null;
      const node = from === undefined ? undefined : children[from];
      if (from === undefined || !node) {
        added.push({ type: 'added', text: this.#print(value, indent) });
      } else {
        flushUpTo(from);
        changes.push({ type: 'kept', from, text: this.value(node, old[from], value, indent) });
      }
    }
    flushUpTo(children.length);
    return changes;
  }

  #list(
    node: Node,
    brackets: readonly [string, string],
    indent: string,
    changesFor: (inner: string) => readonly ItemChange[],
  ): string {
    const list = splitList(this.#source, node);
    const inner = indentOf(list.items[0]?.lead ?? '') ?? indent + this.#unit;
    const changed = rebuildList(list, changesFor(inner), { eol: this.#eol, inner, indent });
    return joinList(brackets, changed, this.#eol);
  }

  #print(value: Json, indent: string): string {
    return JSON.stringify(value, null, this.#unit).replaceAll('\n', this.#eol + indent);
  }
}
