import type { Json } from '../api/json.ts';

/** A text's value, or why it has none. */
export type Parsed = { readonly value: Json } | { readonly problem: string };

/** Reads JSON. */
export const parseText = (text: string): Parsed => {
  try {
    // What JSON.parse gives is JSON.
    return { value: JSON.parse(text) as Json };
  } catch (error) {
    return { problem: `is no JSON yet (${error instanceof Error ? error.message : 'malformed'})` };
  }
};
