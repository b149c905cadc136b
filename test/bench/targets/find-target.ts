import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { target as switchyard } from './switchyard.ts';
import type { Target } from './target.ts';

/** The gateway of this name (`switchyard`) or in this module, which exports it as `target`. Rejects when there is none. */
export const findTarget = async (name: string): Promise<Target> => {
  if (name === switchyard.name) return switchyard;
  const module: unknown = await import(pathToFileURL(resolve(name)).href);
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
