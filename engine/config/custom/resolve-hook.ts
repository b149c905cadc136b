import { statSync } from 'node:fs';
import type { ModuleFormat, ResolveFnOutput, ResolveHookContext } from 'node:module';

/** Data for the hook, which may run in a thread of its own. */
export interface HookData {
  /** URL of the gateway's folder, from which its packages are resolved. */
  readonly gateway: string;
  /** URLs of the modules that custom transformers import as `junctor/…`, by the name after the slash. */
  readonly apis: Readonly<Record<string, string>>;
  /** URLs of bundled packages. */
  readonly bundled: Readonly<Record<string, string>>;
}

/** Marks the modules that `load-module.ts` loads, with the number of the load. */
export const loadMark = 'junctor-load';

const mark = /[?&]junctor-load=(\d+)/;
/** Modules that were written under the product's former names import those. */
const apiName = /^(?:junctor|switchyard|@switchyard\/gateway)\/(transformer|testing)$/;
const gatewayPackages = /^(?:rxjs|typebox)(?:\/|$)/;
const fileSpecifier = /^(?:\.{0,2}\/|file:)/;

let gateway = '';
let apis: HookData['apis'] = {};
let bundled: HookData['bundled'] = {};

export const initialize = (data: HookData): void => {
  ({ gateway, apis, bundled } = data);
};

/**
 * Lets custom transformers import the gateway's packages from any folder, as the same modules, so that `instanceof` works. The
 * mark is passed on to imported files, so that a later load bypasses the cache for all of them. Waits for nothing, since newer
 * Node.js calls it synchronously.
 */
export const resolve = <Next>(
  specifier: string,
  context: ResolveHookContext,
  nextResolve: (specifier: string, context: ResolveHookContext) => Next,
): Next | ResolveFnOutput => {
  const { parentURL } = context;
  const number = mark.exec(specifier)?.[1] ?? mark.exec(parentURL ?? '')?.[1];
  if (number === undefined) return nextResolve(specifier, context);
  const api = apis[apiName.exec(specifier)?.[1] ?? ''];
  if (api !== undefined) return nextResolve(api, context);
  const url = bundled[specifier];
  if (url !== undefined) return { url, format: 'module', shortCircuit: true };
  if (gatewayPackages.test(specifier)) return nextResolve(specifier, { ...context, parentURL: gateway });
  const file = fileSpecifier.test(specifier) ? findFile(new URL(specifier, parentURL)) : undefined;
  if (!file || file.pathname.includes('/node_modules/')) return nextResolve(specifier, context);
  file.search = `?${loadMark}=${number}`;
  return { url: file.href, format: formatOf(file), shortCircuit: true };
};

/** Finds an imported file; TypeScript also allows its compiled name or no extension. */
export const findFile = (url: URL): URL | undefined => {
  const { pathname } = url;
  const names = [pathname, pathname.replace(/\.([cm]?)js$/, '.$1ts'), `${pathname}.ts`, `${pathname}.js`];
  const found = names.find((name) => statSync(withPath(url, name), { throwIfNoEntry: false })?.isFile());
  return found === undefined ? undefined : withPath(url, found);
};

const withPath = (url: URL, pathname: string): URL => {
  const other = new URL(url);
  other.pathname = pathname;
  other.search = '';
  return other;
};

/** The module format. Without a package.json, `.js` and `.ts` would count as CommonJS, whose cache can't be bypassed. */
const formatOf = ({ pathname }: URL): ModuleFormat | undefined => {
  const ending = /\.(c?)(?:m?)([jt]s|json)$/.exec(pathname);
  if (ending?.[2] === 'json') return 'json';
  if (!ending || ending[1]) return 'commonjs';
  return ending[2] === 'ts' ? typescriptModule : 'module';
};

const typescript: string = 'module-typescript';
// The format name of newer Node.js releases, which tsx supports on all; the types of the oldest supported one lack it.
const typescriptModule = typescript as ModuleFormat;
