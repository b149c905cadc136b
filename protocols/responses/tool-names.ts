import type { ModelRequest, Tool } from '../../engine/model/request.ts';
import { toolsByName, UnusedNames } from '../../engine/model/wire/tool-names.ts';
import { type BuiltInKind, builtInKind } from './built-in-tools.ts';

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
    const plain = `${namespace}${namespace.endsWith('__') ? '' : '__'}${name}`.replace(/[^a-zA-Z0-9_-]/g, '_');
    return this.#assign(`${namespace}\u0000${name}`, plain);
  }

  /** Returns the name of a built-in tool, the same each time. */
  builtIn(kind: BuiltInKind): string {
    return this.#assign(`\u0000${kind}`, kind);
  }

  #assign(key: string, plain: string): string {
    const known = this.#flat.get(key);
    if (known !== undefined) return known;
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
  readonly kind: 'function' | 'custom' | BuiltInKind;
  /** Its name inside its namespace, if any. */
  readonly name: string;
  readonly namespace?: string | undefined;
}

/** Tools that a request holds. */
type Declared = Pick<ModelRequest, 'tools' | 'deferredTools'>;

/** One object, by which look-ups are cached. */
const none: readonly Tool[] = [];

/** The client's name of the tool with this name. An unknown tool counts as a function. */
export const calledTool = ({ tools, deferredTools = none }: Declared, name: string): CalledTool => {
  const tool = toolsByName(tools).get(name) ?? toolsByName(deferredTools).get(name);
  if (!tool) return { kind: 'function', name };
  const kind = builtInKind(tool) ?? tool.type;
  return { kind, name: tool.namespace?.local ?? name, namespace: tool.namespace?.name };
};

/** The request's name of the tool `local` in this namespace. */
export const namespacedTool = (
  { tools, deferredTools = none }: Declared,
  namespace: string,
  local: string,
): string | undefined => {
  const key = JSON.stringify([namespace, local]);
  return namespacedIn(tools).get(key) ?? namespacedIn(deferredTools).get(key);
};

const namespacedIn = (tools: readonly Tool[]): ReadonlyMap<string, string> => {
  const before = namespaced.get(tools);
  if (before) return before;
  const names = new Map<string, string>();
  for (const tool of tools) {
    if ((tool.type !== 'function' && tool.type !== 'custom') || !tool.namespace) continue;
    const key = JSON.stringify([tool.namespace.name, tool.namespace.local]);
    if (!names.has(key)) names.set(key, tool.name);
  }
  namespaced.set(tools, names);
  return names;
};

/** Built once per list of tools: a reply may hold as many calls as there are tools. */
const namespaced = new WeakMap<readonly Tool[], ReadonlyMap<string, string>>();
