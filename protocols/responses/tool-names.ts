import type { Tool } from '../../engine/model/request.ts';
import { toolsByName, UnusedNames } from '../../engine/model/wire/tool-names.ts';

/**
 * Assigns flat names to the tools of namespaces: `namespace__name`, in characters and a length that all vendors
 * accept, unique in the request.
 */
export class FlatNames {
  readonly #taken: Set<string>;
  readonly #flat = new Map<string, string>();
  readonly #unused = new UnusedNames();

  /** `taken` are the names already in use. */
  constructor(taken: Iterable<string>) {
    this.#taken = new Set(taken);
  }

  /** Returns the flat name of a tool, the same each time. */
  of(namespace: string, name: string): string {
    const key = `${namespace}\u0000${name}`;
    const known = this.#flat.get(key);
    if (known !== undefined) return known;
    const plain = `${namespace}${namespace.endsWith('__') ? '' : '__'}${name}`.replace(/[^a-zA-Z0-9_-]/g, '_');
    const flat = this.#unused.find(plain, maxLength, (candidate) => this.#taken.has(candidate));
    this.#flat.set(key, flat);
    this.#taken.add(flat);
    return flat;
  }
}

/** The strictest vendors' limit. */
const maxLength = 64;

/** A tool as the client names it. */
export interface CalledTool {
  readonly kind: 'function' | 'custom';
  /** Its name inside its namespace, if any. */
  readonly name: string;
  readonly namespace?: string | undefined;
}

/** The client's name of the tool with this name. An unknown tool counts as a function. */
export const calledTool = (tools: readonly Tool[], name: string): CalledTool => {
  const tool = toolsByName(tools).get(name);
  if (!tool) return { kind: 'function', name };
  return { kind: tool.type, name: tool.namespace?.local ?? name, namespace: tool.namespace?.name };
};

/** The request's name of the tool `local` in this namespace. */
export const namespacedTool = (tools: readonly Tool[], namespace: string, local: string): string | undefined => {
  let names = namespaced.get(tools);
  if (!names) {
    names = new Map();
    for (const tool of tools) {
      if ((tool.type !== 'function' && tool.type !== 'custom') || !tool.namespace) continue;
      const key = JSON.stringify([tool.namespace.name, tool.namespace.local]);
      if (!names.has(key)) names.set(key, tool.name);
    }
    namespaced.set(tools, names);
  }
  return names.get(JSON.stringify([namespace, local]));
};

/** Built once per list of tools: a reply may hold as many calls as there are tools. */
const namespaced = new WeakMap<readonly Tool[], Map<string, string>>();
