import { existsSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundle, root } from '../../paths.ts';
import { commandIn, junctorIn, ownFolder } from './junctor.ts';
import type { Target } from './target.ts';

/**
 * The gateway of this name: `junctor`, the folder of another checkout or package of it, or a module that exports it as `target`. Rejects
 * when there is none.
 */
export const findTarget = async (name: string): Promise<Target> => {
  if (name === 'junctor') return junctorIn(ownFolder, name);
  const path = resolve(name);
  if (existsSync(commandIn(path))) return junctorIn(path, basename(path));
  if (!existsSync(path)) throw new Error(`There is no gateway ${name}: neither a folder of a checkout, nor a module.`);
  // A module may be written in TypeScript.
  if (bundle) await import(new URL('engine/launch/typescript.js', root).href);
  const module: unknown = await import(pathToFileURL(path).href);
  const found = typeof module === 'object' && module !== null && 'target' in module ? module.target : undefined;
  if (!isTarget(found)) throw new Error(`${name} exports no \`target\` with a \`name\` and a function \`start\`.`);
  return found;
};

const isTarget = (value: unknown): value is Target =>
  typeof value === 'object' &&
  value !== null &&
  'name' in value &&
  typeof value.name === 'string' &&
  'start' in value &&
  typeof value.start === 'function';
