/**
 * What a model's name tells of how it takes reasoning: `always`: it reasons, and refuses sampling fields; `never`: it refuses
 * reasoning fields; `unknown`: any other name.
 */
export const reasoningOf = (model: string): 'always' | 'never' | 'unknown' => {
  const name = bareName(model);
  if (/^(gpt-[34]|chatgpt-4|gpt-5[^/]*-chat)/.test(name)) return 'never';
  return /^(o\d|gpt-5|codex-)/.test(name) ? 'always' : 'unknown';
};

/** The least reasoning that the model can be asked for; the first generations can't be told to do without. */
export const leastEffort = (model: string): 'none' | 'minimal' | 'low' => {
  const name = bareName(model);
  if (/^o\d/.test(name)) return 'low';
  return /^gpt-5(-|$)/.test(name) ? 'minimal' : 'none';
};

/** Whether the model's prompt cache takes marks inside the prompt. Source: OpenAI guide "Prompt caching". */
export const takesCacheMarks = (model: string): boolean => /^gpt-(5\.([6-9]|\d\d)|[6-9])/.test(bareName(model));

/** Routers put their own prefixes before a model's name. */
const bareName = (model: string): string => model.slice(model.lastIndexOf('/') + 1).toLowerCase();
