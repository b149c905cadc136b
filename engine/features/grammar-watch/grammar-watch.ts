import { Buffer } from 'node:buffer';
import type { Feature } from '../../feature.ts';
import type { Violation } from '../../model/grammar.ts';
import { standIn } from '../../observe/log/stand-ins.ts';
import type { RequestRecord } from '../../request-record.ts';
import { BoundedMap } from '../../runtime/memoize.ts';
import { Tally } from '../record/series.ts';

/** Lines in the log on one rule and provider have at least this distance, in milliseconds; one says how many have been left out. */
const logEveryMs = 600_000;
/** Rules and providers whose last lines are known. */
const maxKnown = 500;
/** Maximum shown bytes of a record. */
const maxShown = 1_000;

interface Logged {
  readonly atMs: number;
  /** Violations since that line. */
  others: number;
}

/**
 * Counts what breaks the rules of providers' wire formats, and logs it with the record's bytes, in which stand-ins take the place of
 * texts. `nowMs`: a monotonic clock, in milliseconds.
 */
export const openGrammarWatch = (nowMs: () => number): Required<Pick<Feature, 'listener' | 'metrics'>> => {
  const counts = new Tally();
  const logged = new BoundedMap<string, Logged>(maxKnown);
  const violated = (
    { rule, record: number, path, expected }: Violation,
    text: string,
    { provider = 'none', model, start, id }: RequestRecord,
  ): void => {
    counts.add([provider, rule]);
    const key = `${rule} ${provider}`;
    const last = logged.get(key);
    if (last && nowMs() - last.atMs < logEveryMs) {
      last.others += 1;
      return;
    }
    logged.set(key, { atMs: nowMs(), others: 0 });
    start.gateway.log.warn("an answer breaks a rule of its provider's wire format", {
      requestId: id,
      provider,
      model,
      rule,
      record: number,
      path,
      expected,
      bytes: standIn(Buffer.from(text).subarray(0, maxShown)).toString(),
      ...(last && last.others > 0 && { others: last.others }),
    });
  };
  return {
    listener: { violated },
    metrics: [
      {
        type: 'counter',
        name: 'grammar_violations_total',
        help: "Rules of its wire format that a provider's answer broke.",
        labelNames: ['provider', 'rule'],
        samples: () => counts.rows(),
      },
    ],
  };
};
