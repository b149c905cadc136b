import { register } from 'node:module';
import { pathToFileURL } from 'node:url';
import { type HookData, loadMark } from './resolve-hook.ts';

/** How long a module may take to load, in milliseconds: one that waits for ever must not keep the service from starting. */
const maxLoadMs = 10_000;

let loads = 0;

/** A module's default export, freshly loaded with the files that it imports. Rejects with what keeps it from loading. */
export const loadModule = async (file: string): Promise<unknown> => {
  if (loads === 0) register<HookData>('./resolve-hook.ts', import.meta.url, { data: { gateway: import.meta.url } });
  loads += 1;
  const module: unknown = await withinTime(import(`${pathToFileURL(file).href}?${loadMark}=${loads}`));
  return typeof module === 'object' && module !== null && 'default' in module ? module.default : undefined;
};

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
