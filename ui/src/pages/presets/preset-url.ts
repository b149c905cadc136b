/** What a client is given as its base URL, so that its requests are a preset's; some clients want `/v1` behind it. */
export const presetUrl = (name: string): string => `${window.location.origin}/preset/${encodeURIComponent(name)}`;
