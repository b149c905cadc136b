import type { ErrorReport } from './read-error.ts';

/**
 * Whether an upstream's error says that the prompt exceeds the context window, so that a shorter conversation would help. One
 * table for all formats: vendors forward each other's errors, and local servers speak several formats. `status`: the response's,
 * or the one in the error; `undefined` for an error in a reply or stream without one.
 */
export const isContextOverflow = ({ message, words }: ErrorReport, status: number | undefined): boolean => {
  if (status !== undefined && !statuses.has(status)) return false;
  const text = `${words.join(' ')} ${message}`.toLowerCase();
  if (others.some((fragments) => hasAll(text, fragments))) return false;
  if (status === 413 && words.some((word) => wordsWith413.has(word))) return true;
  if (words.some((word) => codes.has(word)) || rows.some((fragments) => hasAll(text, fragments))) return true;
  // A server's own trouble may be about context windows, too.
  return status !== 500 && looseWords.test(text);
};

/** A limit on requests (429) or an overload (503, 529) may speak of tokens and lengths as well. */
const statuses: ReadonlySet<number> = new Set([400, 413, 422, 500]);

/** Lower-case fragments that occur in a text in this order; numbers and names stand between them. */
type Fragments = readonly string[];

/** The words of 25 hosts. Source: their pages, and the lists of agents that compact when they meet one of them. */
const rows: readonly Fragments[] = [
  ['prompt is too long'],
  ['input length and', 'exceed context limit'],
  ['input is too long'],
  ['exceeds the context window'],
  ['context_length_exceeded'],
  ['maximum context length'],
  ['context exceeds your deployment'],
  ['contextwindowexceedederror'],
  ['input token count', 'exceeds the maximum'],
  ['exceeds the maximum number of tokens'],
  ['input tokens exceed the configured limit'],
  ['maximum prompt length'],
  ['reduce the length'],
  ['maximum allowed input length'],
  ["longer than the model's context length"],
  ['inputs', 'max_new_tokens', 'must be'],
  ['inputs', 'must have less than', 'tokens'],
  ['context length is only', 'tokens'],
  ['for a total of at least', 'tokens'],
  ['longer than the maximum model length'],
  ['exceed_context_size_error'],
  ['exceeds the available context size'],
  ['tokens to keep from the initial prompt', 'greater than the context length'],
  ['cannot truncate prompt with n_keep', 'n_ctx'],
  ['trying to keep the first', 'tokens when context the overflows'],
  ['prompt too long'],
  ['exceeded max context length'],
  ['prompt token count', 'exceeds the limit'],
  ['model_max_prompt_tokens_exceeded'],
  ['context window exceeds limit'],
  ['exceeded model token limit'],
  ['too large for model with', 'maximum context length'],
  ['prompt exceeds max length'],
  ['model_context_window_exceeded'],
  ['range of input length should be'],
  ['tokens in request more than max tokens allowed'],
  ['maximum context limit'],
  ['model only supports up to', 'tokens'],
  ['input token length too long'],
];

/** Codes that are too short to be searched for in texts. */
const codes: ReadonlySet<string> = new Set(['1261']);

/** Types that mean an overflow only with status 413. */
const wordsWith413: ReadonlySet<string> = new Set(['request_too_large']);

/** Words of servers without a row. Long texts are cut before (`errorText`). */
const looseWords = /context window|exceeds? (?:the )?(?:model's |maximum |available ){0,2}context/;

/** Throttling, and what a shorter conversation wouldn't change. */
const others: readonly Fragments[] = [
  ['too many tokens, please wait'],
  ['rate limit'],
  ['rate_limit'],
  ['too many requests'],
  ['tokens per minute'],
  ['service unavailable'],
  ['string too long. expected a string with maximum length'],
  ['expected maxlength'],
  ['policy_blocked'],
  ['dlp_request_denied'],
  ['supports up to', 'output tokens'],
  ['supports up to', 'completion tokens'],
];

const hasAll = (text: string, fragments: Fragments): boolean => {
  let from = 0;
  for (const fragment of fragments) {
    const at = text.indexOf(fragment, from);
    if (at < 0) return false;
    from = at + fragment.length;
  }
  return true;
};
