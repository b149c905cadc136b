/** A path without its indices, by which like losses are counted: `tools[3].cache_control` → `tools[].cache_control`. */
export const fieldPattern = (path: string): string => path.replace(/\[\d+\]/g, '[]');

/** A path in characters that a header or a metric's label takes, without a list's punctuation: clients name their fields. */
export const plainPath = (path: string): string => path.replace(/[^\x21-\x7e]|[,;*]/g, '_');
