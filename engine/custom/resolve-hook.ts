import { statSync } from 'node:fs';
import type { InitializeHook, ModuleFormat, ResolveHook } from 'node:module';

/** What the hook must know; it runs in the loader's own thread. */
export interface HookData {
  /** URL of the gateway's folder: its packages are found from here. */
  readonly gateway: string;
  /** URLs of those packages that the gateway runs from elsewhere. */
  readonly bundled: Readonly<Record<string, string>>;
}

/** Marks the modules that `load-module.ts` loads, with the number of the load. */
export const loadMark = 'switchyard-load';

const mark = new RegExp(`[?&]${loadMark}=(\\d+)`);
const gatewayPackages = /^(?:switchyard|rxjs|typebox)(?:\/|$)/;
const fileSpecifier = /^(?:\.{0,2}\/|file:)/;

let gateway = '';
let bundled: HookData['bundled'] = {};

export const initialize: InitializeHook<HookData> = (data) => {
  ({ gateway, bundled } = data);
};

/**
 * Lets custom transformers import the gateway's own packages from any folder; that they are the very same modules keeps
 * `instanceof` true. The mark goes on to the files that they import, so that a later load sees all of them fresh.
 */
export const resolve: ResolveHook = async (specifier, context, nextResolve) => {
  const { parentURL } = context;
  const number = mark.exec(specifier)?.[1] ?? mark.exec(parentURL ?? '')?.[1];
  if (number === undefined) return nextResolve(specifier, context);
  const url = bundled[specifier];
  if (url !== undefined) return { url, format: 'module', shortCircuit: true };
  if (gatewayPackages.test(specifier)) return nextResolve(specifier, { ...context, parentURL: gateway });
  const file = fileSpecifier.test(specifier) ? findFile(new URL(specifier, parentURL)) : undefined;
  if (!file || file.pathname.includes('/node_modules/')) return nextResolve(specifier, context);
  file.search = `?${loadMark}=${number}`;
  return { url: file.href, format: formatOf(file), shortCircuit: true };
};

/** The file, which TypeScript also lets one import under the name that it would have once compiled, or without ending. */
const findFile = (url: URL): URL | undefined => {
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

/** Without a package.json nearby, `.js` and `.ts` would count as CommonJS, which can't be told to load anything afresh. */
const formatOf = ({ pathname }: URL): ModuleFormat | undefined => {
  const ending = /\.(c?)(?:m?)([jt]s|json)$/.exec(pathname);
  if (ending?.[2] === 'json') return 'json';
  if (!ending || ending[1]) return 'commonjs';
  return ending[2] === 'ts' ? typescriptModule : 'module';
};

const typescript: string = 'module-typescript';
// The word of newer Nodes, which tsx knows on all; the types of the oldest Node that is supported don't.
const typescriptModule = typescript as ModuleFormat;
