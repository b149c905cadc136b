import type { Json } from './json.ts';

/** Whether no value lies deeper than `levels`: what comes later walks values recursively, and must not run out of stack. */
export const isShallow = (value: Json | undefined, levels: number): boolean => {
  if (typeof value !== 'object' || value === null) return true;
  if (levels === 0) return false;
  for (const member of Array.isArray(value) ? value : Object.values(value)) {
    if (!isShallow(member, levels - 1)) return false;
  }
  return true;
};
