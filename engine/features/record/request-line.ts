import type { Usage } from '../../model/event.ts';
import type { Loss } from '../../model/loss.ts';
import { shorten } from '../../observe/log/mask-text.ts';
import type { RequestRecord } from '../../request-record.ts';
import { isCost } from '../../routing/catalogue/catalogue.ts';
import type { SummaryLoss } from './schema.ts';

/** The data of an ended request in one line. */
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
  | 'upstreamId'
  | 'status'
  | 'fault'
  | 'usage'
  | 'cost'
  | 'defaultCost'
  | 'mayCost'
  | 'isAdmitted'
  | 'isEstimated'
  | 'calls'
  | 'firstByteMs'
  | 'durationMs'
  | 'overheadMs'
  | 'losses'
  | 'lossCount'
  | 'failedAttempts'
  | 'relayed'
  | 'captured'
> & { readonly cause?: RequestRecord['cause'] | undefined };

const maxLosses = 50;
const maxNameChars = 64;
const maxFaultChars = 500;

/**
 * An ended request as JSON text, a `KeptRequest`, without what is unknown. `n` is its number, `endedAtMs` its end in milliseconds since
 * 1970: it comes first, so that it can be read without the rest. `maskText` removes secrets from upstreams' messages.
 */
export const requestLine = (
  record: EndedRecord,
  n: number,
  endedAtMs: number,
  maskText: (text: string) => string,
): string => {
  const {
    reason,
    model,
    fault,
    usage,
    cost,
    defaultCost,
    calls,
    tools,
    turns,
    lossCount,
    failedAttempts,
    firstByteMs,
    overheadMs,
  } = record;
  const losses = lossCount === 0 ? none : record.losses.slice(0, maxLosses).map(showLoss);
  // One literal: neither its members nor its text are put together piece by piece.
  return JSON.stringify({
    endedAt: endedAtMs,
    n,
    id: record.id,
    startedAt: record.startedAtMs,
    path: record.path,
    protocol: record.protocol,
    asked: shorten(record.asked),
    stream: record.stream,
    status: record.status,
    durationMs: tenths(record.durationMs),
    losses,
    relayed: record.relayed,
    captured: record.captured,
    preset: record.preset,
    client: record.namedClient,
    session: record.session,
    tools: tools.length > 0 ? tools.map((name) => shorten(name, maxNameChars)) : undefined,
    turns: turns > 0 ? turns : undefined,
    scenario: record.scenario,
    reason: reason === undefined ? undefined : shorten(reason),
    pool: record.pool,
    provider: record.provider,
    model: model === undefined ? undefined : shorten(model),
    upstreamId: record.upstreamId,
    fault: fault && { kind: fault.kind, message: shorten(maskText(fault.message), maxFaultChars) },
    usage: usage && countsOf(usage),
    cost,
    defaultCost: isCost(defaultCost) ? defaultCost : undefined,
    charged: record.mayCost ? true : undefined,
    admitted: record.isAdmitted ? true : undefined,
    estimated: record.isEstimated ? true : undefined,
    retries: calls > 1 ? calls - 1 : undefined,
    firstByteMs: firstByteMs === undefined ? undefined : tenths(firstByteMs),
    overheadMs: overheadMs === undefined ? undefined : tenths(overheadMs),
    lossesOmitted: lossCount > losses.length ? lossCount - losses.length : undefined,
    failedAttempts: failedAttempts.length > 0 ? failedAttempts : undefined,
    cause: record.cause && { id: record.cause.record.id, stage: record.cause.stage, kind: record.cause.kind },
  });
};

const none: readonly SummaryLoss[] = [];

/** The counts that are known; `undefined`: none is. */
const countsOf = (usage: Usage): Usage | undefined => {
  const input = countOf(usage.input);
  const cacheRead = countOf(usage.cacheRead);
  const cacheWrite = countOf(usage.cacheWrite);
  const output = countOf(usage.output);
  const reasoning = countOf(usage.reasoning);
  const isKnown = (input ?? cacheRead ?? cacheWrite ?? output ?? reasoning) !== undefined;
  return isKnown ? { input, cacheRead, cacheWrite, output, reasoning } : undefined;
};

/** An upstream's count may be any number. */
const countOf = (count: number | undefined): number | undefined =>
  count !== undefined && count >= 0 && count <= Number.MAX_SAFE_INTEGER ? Math.round(count) : undefined;

/** Rounds to tenths of a millisecond. */
const tenths = (ms: number): number => Math.round(ms * 10) / 10;

/** Converts a loss for a summary. */
export const showLoss = ({ step, path, outcome, note }: Loss): SummaryLoss => ({
  step,
  field: shorten(path),
  action: outcome,
  ...(note !== undefined && { note: shorten(note) }),
});
