import { register } from 'node:module';
import { pathToFileURL } from 'node:url';
import { bundle, moduleUrl, root } from '../places.ts';
import { type HookData, loadMark } from './resolve-hook.ts';

/** How long a module may take to load, in milliseconds: one that waits for ever must not keep the service from starting. */
const maxLoadMs = 10_000;

let loads = 0;
let hooked: Promise<void> | undefined;

/** A module's default export, freshly loaded with the files that it imports. Rejects with what keeps it from loading. */
export const loadModule = async (file: string): Promise<unknown> => {
  hooked ??= hook();
  await hooked;
  loads += 1;
  const module: unknown = await withinTime(import(`${pathToFileURL(file).href}?${loadMark}=${loads}`));
  return typeof module === 'object' && module !== null && 'default' in module ? module.default : undefined;
};

/** Lets modules be written in TypeScript and import the gateway's own packages. */
const hook = async (): Promise<void> => {
  // Sources run by their loader already; a bundle does without until somebody needs it.
  if (bundle) await import(new URL('engine/cli/typescript.js', root).href);
  const data: HookData = { gateway: root.href, bundled: bundle ? bundledPackages(bundle) : {} };
  register<HookData>(moduleUrl('resolve-hook', 'engine/custom/resolve-hook.ts'), { data });
};

/** In a bundle, the gateway's packages are files of the bundle. */
const bundledPackages = (folder: URL): HookData['bundled'] => ({
  'switchyard/transformer': new URL('transformer-api.mjs', folder).href,
  rxjs: new URL('rxjs.mjs', folder).href,
  'rxjs/operators': new URL('rxjs-operators.mjs', folder).href,
  typebox: new URL('typebox.mjs', folder).href,
});

const withinTime = async (loading: Promise<unknown>): Promise<unknown> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it didn't finish loading within ${maxLoadMs} ms`)), maxLoadMs);
  });
  try {
    return await Promise.race([loading, late]);
  } finally {
    clearTimeout(timer);
  }
};
