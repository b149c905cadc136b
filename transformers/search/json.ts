/** Whether a foreign value is an object. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A foreign value's text; empty if it isn't one. */
export const textIn = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The items of a foreign list; empty if it isn't one. */
export const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The value that a foreign JSON text holds; `undefined` if it isn't JSON. */
export const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
