/** A preset's base URL; some clients need `/v1` appended. */
export const presetUrl = (name: string): string => `${window.location.origin}/preset/${encodeURIComponent(name)}`;
