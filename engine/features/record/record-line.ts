import type { Usage } from '../../model/event.ts';
import type { Loss } from '../../model/loss.ts';
import { shorten } from '../../observe/log/mask-text.ts';
import type { RequestRecord } from '../../request-record.ts';
import { isCost } from '../../routing/catalogue/catalogue.ts';
import type { SummaryLoss } from './schema.ts';

/** What a line shows of an ended request. */
type EndedRecord = Pick<
  RequestRecord,
  | 'id'
  | 'startedAtMs'
  | 'path'
  | 'preset'
  | 'protocol'
  | 'namedClient'
  | 'session'
  | 'tools'
  | 'turns'
  | 'asked'
  | 'stream'
  | 'scenario'
  | 'reason'
  | 'pool'
  | 'provider'
  | 'model'
  | 'status'
  | 'fault'
  | 'usage'
  | 'cost'
  | 'firstByteMs'
  | 'durationMs'
  | 'overheadMs'
  | 'losses'
  | 'lossCount'
  | 'failedAttempts'
  | 'relayed'
  | 'captured'
>;

const maxLosses = 50;
const maxNameChars = 64;
const maxFaultChars = 500;

/**
 * An ended request as a line of JSON, a `KeptRequest`, without what is unknown. `n` is its number, `endedAtMs` its end in milliseconds
 * since 1970: it comes first, so that it can be read without the rest. `maskText` removes secrets from upstreams' messages.
 */
export const recordLine = (
  record: EndedRecord,
  n: number,
  endedAtMs: number,
  maskText: (text: string) => string,
): string => {
  const { scenario, reason, pool, provider, model, fault, usage, cost, tools, lossCount, failedAttempts, relayed } =
    record;
  const losses = lossCount === 0 ? [] : record.losses.slice(0, maxLosses);
  let line =
    `{"endedAt":${endedAtMs},"n":${n},"id":${quoted(record.id)},"startedAt":${record.startedAtMs},"path":${quoted(record.path)}` +
    `,"protocol":"${record.protocol}","asked":${quoted(shorten(record.asked))},"stream":${record.stream}` +
    `,"status":${record.status},"durationMs":${tenths(record.durationMs)}` +
    `,"losses":${losses.length === 0 ? '[]' : quoted(losses.map(showLoss))}` +
    `,"relayed":{"request":${relayed.request},"reply":${relayed.reply}},"captured":${record.captured}`;
  if (record.preset !== undefined) line += `,"preset":${quoted(record.preset)}`;
  if (record.namedClient !== undefined) line += `,"client":${quoted(record.namedClient)}`;
  if (record.session !== undefined) line += `,"session":${quoted(record.session)}`;
  if (tools.length > 0) line += `,"tools":${quoted(tools.map((name) => shorten(name, maxNameChars)))}`;
  if (record.turns > 0) line += `,"turns":${record.turns}`;
  if (scenario !== undefined) line += `,"scenario":${quoted(scenario)}`;
  if (reason !== undefined) line += `,"reason":${quoted(shorten(reason))}`;
  if (pool !== undefined) line += `,"pool":${quoted(pool)}`;
  if (provider !== undefined) line += `,"provider":${quoted(provider)}`;
  if (model !== undefined) line += `,"model":${quoted(shorten(model))}`;
  if (fault)
    line += `,"fault":{"kind":"${fault.kind}","message":${quoted(shorten(maskText(fault.message), maxFaultChars))}}`;
  if (usage) line += countsOf(usage);
  if (isCost(cost)) line += `,"cost":${cost}`;
  if (record.firstByteMs !== undefined) line += `,"firstByteMs":${tenths(record.firstByteMs)}`;
  if (record.overheadMs !== undefined) line += `,"overheadMs":${tenths(record.overheadMs)}`;
  if (lossCount > losses.length) line += `,"lossesOmitted":${lossCount - losses.length}`;
  if (failedAttempts.length > 0) line += `,"failedAttempts":${quoted(failedAttempts)}`;
  return `${line}}\n`;
};

const quoted = (value: string | readonly unknown[]): string => JSON.stringify(value);

/** The member with the counts that are known; empty: none is. */
const countsOf = ({ input, cacheRead, cacheWrite, output, reasoning }: Usage): string => {
  const counts =
    countOf('input', input) +
    countOf('cacheRead', cacheRead) +
    countOf('cacheWrite', cacheWrite) +
    countOf('output', output) +
    countOf('reasoning', reasoning);
  return counts === '' ? '' : `,"usage":{${counts.slice(1)}}`;
};

/** An upstream's count may be any number. */
const countOf = (name: string, count: number | undefined): string =>
  count === undefined || !(count >= 0 && count <= Number.MAX_SAFE_INTEGER) ? '' : `,"${name}":${Math.round(count)}`;

/** Rounds to tenths of a millisecond. */
const tenths = (ms: number): number => Math.round(ms * 10) / 10;

/** Converts a loss for a summary. */
export const showLoss = ({ step, path, outcome, note }: Loss): SummaryLoss => ({
  step,
  field: shorten(path),
  action: outcome,
  ...(note !== undefined && { note: shorten(note) }),
});
