/** The limits that a refusal of an output limit names, in tokens. */
interface OutputRefusal {
  /** Maximum of prompt and answer together. */
  readonly window?: number;
  /** Maximum of an answer. */
  readonly limit?: number;
  /** The prompt, as the host counts it. */
  readonly prompt?: number;
}

/** An answer needs some room: less than this part of the window, and the input doesn't fit. In tokens. */
export const leastRoom = (window: number): number => Math.min(256, Math.ceil(window / 128));

/** Words about what an answer may have. */
const ofOutput =
  /max_(?:completion_|output_|new_)?tokens|maxOutputTokens|max tokens|maximum tokens|output tokens|completion tokens|in the (?:completion|output)|for the completion|max_seq_len/i;

/** Words about what prompt and answer may have together. */
const ofWindow =
  /context|max_model_len|max_seq_len|max_total_tokens|\bin total\b|total (?:of|number|token)|inputs?[`'"]? tokens \+|prompt length/i;

/** The answer's own bound, though the text goes on about windows. */
const ofAnswerAlone = /max_tokens[`'"]? must be (?:less|lower|at most|<=|between)/i;

/** Patterns of hosts for the prompt's size. Each repetition has a bound: the texts are foreign. */
const promptCounts: readonly RegExp[] = [
  /(\d{1,12}) (?:tokens )?(?:in|from|of) (?:the |your )?(?:input|messages|prompt|text input)/i,
  /(\d{1,12}) [`'"]?(?:input|inputs|prompt)[`'"]? tokens/i,
  /(\d{1,12}) of text input/i,
  /(?:prompt|input|inputs) (?:length|tokens?|token count)?[^\d.;]{0,24}\(?(\d{1,12})/i,
  /(\d{1,12}) \+ \d{1,12} > \d{1,12}/,
];

/** Characters of a refusal that are read. */
const maxRead = 2_000;

/** Numbers that are read. */
const maxNumbers = 24;

/**
 * Reads a refusal of an output limit; `undefined` if it is about something else, or the prompt itself doesn't fit. `asked`: the limit
 * that was sent.
 */
export const readOutputRefusal = (message: string, asked: number): OutputRefusal | undefined => {
  // Thousands may be grouped: 131,072.
  const text = message.slice(0, maxRead).replace(/(\d),(?=\d{3}(?!\d))/g, '$1');
  const numbers = numbersIn(text);
  if (!ofOutput.test(text)) return undefined;
  const others = numbers.filter((number) => number !== asked);
  const total = others.find((number) => number > asked && others.includes(number - asked));
  const prompt = total === undefined ? promptIn(text, asked) : total - asked;
  const bounds = others.filter((number) => number !== total && number !== prompt && number >= 16);
  const isWindow = ofWindow.test(text) && !ofAnswerAlone.test(text);
  const roomy = isWindow ? bounds : bounds.filter((number) => number <= asked);
  const bound = roomy.length > 0 ? Math.max(...roomy) : undefined;
  if (bound === undefined) return undefined;
  const most = excludes(text, bound) ? bound - 1 : bound;
  if (!isWindow) return most < asked ? { limit: most } : undefined;
  if ((prompt ?? 0) + asked <= most || most - (prompt ?? 0) < leastRoom(most)) return undefined;
  // "At least" is what a host says that hasn't counted to the end.
  const isExact = prompt !== undefined && !/at least \d{1,12} input/i.test(text);
  return { window: most, ...(isExact && { prompt }) };
};

/** Whole numbers that stand alone: those in names and dates don't count. */
const numbersIn = (text: string): readonly number[] => {
  const found: number[] = [];
  for (const match of text.matchAll(/(?<![\w.-])\d{1,12}(?![\w-]|\.\d)/g)) {
    if (found.push(Number(match[0])) >= maxNumbers) break;
  }
  return found;
};

const promptIn = (text: string, asked: number): number | undefined => {
  for (const pattern of promptCounts) {
    const count = Number(pattern.exec(text)?.[1]);
    if (!Number.isNaN(count) && count !== asked) return count;
  }
  return undefined;
};

/** Whether the bound itself is too much. */
const excludes = (text: string, bound: number): boolean =>
  [...text.matchAll(/(?:(?:less|lower|smaller) than|below) [`'"]?(\d{1,12})|\b(\d{1,12}) \(exclusive/gi)].some(
    ([, below, exclusive]) => Number(below ?? exclusive) === bound,
  );
