import type { Json } from '../../api/json.ts';

/** A parsed value, or why there is none. */
export type Parsed = { readonly value: Json } | { readonly problem: string };

/** Parses JSON. */
export const parseText = (text: string): Parsed => {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { problem: `is not valid JSON yet (${error instanceof Error ? error.message : 'malformed'})` };
  }
};
