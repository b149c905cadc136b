import type { FaultKind } from '../fault.ts';
import type { ErrorReport } from './read-error.ts';

/**
 * The kind of an error that comes without a status, such as one inside a reply. The vendor's own codes and types are exact, so they
 * are looked up first; then its words.
 */
export const kindOfWords = ({ message, words }: ErrorReport): FaultKind => {
  for (const word of words) {
    const kind = kindsByWord.get(word);
    if (kind) return kind;
  }
  const text = `${words.join(' ')} ${message}`;
  return kindsByText.find(([, pattern]) => pattern.test(text))?.[0] ?? 'upstream-error';
};

/** Numbers are codes of hosts that report faults with status 200. Source: their pages on errors. */
const kindsByWord: ReadonlyMap<string, FaultKind> = new Map<string, FaultKind>([
  ['overloaded_error', 'upstream-overloaded'],
  ['provider_overloaded', 'upstream-overloaded'],
  ['service_unavailable', 'upstream-overloaded'],
  ['engine_overloaded', 'upstream-overloaded'],
  ['model_not_found', 'upstream-not-found'],
  ['not_found', 'upstream-not-found'],
  ['invalid_request_error', 'upstream-invalid'],
  ['invalid_request', 'upstream-invalid'],
  ['invalid_prompt', 'upstream-invalid'],
  ['invalid_parameter_error', 'upstream-invalid'],
  ['1210', 'upstream-invalid'],
  ['1213', 'upstream-invalid'],
  ['2013', 'upstream-invalid'],
  ['1008', 'upstream-billing'],
  ['1113', 'upstream-billing'],
  ['1302', 'upstream-rate-limit'],
  ['1305', 'upstream-rate-limit'],
]);

/** Each repetition has a bound: the texts are foreign. */
const kindsByText: readonly (readonly [kind: FaultKind, pattern: RegExp])[] = [
  ['upstream-billing', /insufficient.{0,20}(?:balance|quota|credit|funds)|out of credits/i],
  ['upstream-rate-limit', /rate.?limit|too many requests|tokens per minute|throttl/i],
  ['upstream-auth', /(?:invalid|incorrect|missing).{0,10}api.?key|unauthorized|authentication fail/i],
  ['upstream-overloaded', /overloaded|service.?unavailable|at capacity|slow_down/i],
];
