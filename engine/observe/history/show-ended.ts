import type { FailedAttempt } from '../../exchange.ts';
import type { Usage } from '../../model/event.ts';
import { shorten } from '../../model/fault.ts';
import type { Loss } from '../../model/loss.ts';
import type { RequestSummary, SummaryLoss } from './schema.ts';

/** An ended request in the form that is cheapest to create; most are never read. Times in milliseconds. */
export interface EndedRequest {
  readonly n: number;
  readonly id: string;
  readonly startedAtMs: number;
  readonly path: string;
  readonly preset: string | undefined;
  readonly protocol: RequestSummary['protocol'];
  readonly namedClient: string | undefined;
  /** The conversation; `undefined`: unknown. */
  readonly session: string | undefined;
  /** Names of the called tools whose results it brought. */
  readonly tools: readonly string[];
  /** Turns of the user in its conversation, without those that only bring results of tools. */
  readonly turns: number;
  readonly asked: string;
  readonly stream: boolean;
  readonly scenario: string | undefined;
  readonly reason: string | undefined;
  readonly pool: string | undefined;
  readonly provider: string | undefined;
  readonly model: string | undefined;
  readonly status: number;
  readonly fault: RequestSummary['fault'] | undefined;
  readonly usage: Usage | undefined;
  /** Nano-dollars; `undefined`: unknown. */
  readonly cost: number | undefined;
  /** What the same tokens cost at the default destination, in nano-dollars; `undefined`: one of both costs is unknown. */
  readonly defaultCost: number | undefined;
  readonly firstByteMs: number | undefined;
  readonly durationMs: number;
  readonly overheadMs: number | undefined;
  /** The first losses. */
  readonly losses: readonly SummaryLoss[];
  readonly lossCount: number;
  /** Failed attempts before the answer. */
  readonly failed: readonly FailedAttempt[];
  readonly relayed: RequestSummary['relayed'];
  readonly captured: boolean;
  /** Calls to upstreams. */
  readonly calls: number;
  /** Whether the client got an error. */
  readonly isFailed: boolean;
  /** Whether an upstream may charge for it: it accepted a call, or the client left while one was under way. */
  readonly mayCost: boolean;
}

/** Renders the summary for the API; omits unknown values. */
export const showEnded = (ended: EndedRequest): RequestSummary => {
  const {
    preset,
    namedClient: client,
    session,
    tools,
    turns,
    scenario,
    reason,
    pool,
    provider,
    model,
    fault,
    usage,
    cost,
    firstByteMs,
    overheadMs,
    losses,
  } = ended;
  const counts = usage && countsOf(usage);
  return {
    n: ended.n,
    id: ended.id,
    startedAt: ended.startedAtMs,
    path: ended.path,
    protocol: ended.protocol,
    ...(preset !== undefined && { preset }),
    ...(client !== undefined && { client }),
    ...(session !== undefined && { session }),
    ...(tools.length > 0 && { tools }),
    ...(turns > 0 && { turns }),
    asked: ended.asked,
    stream: ended.stream,
    ...(scenario !== undefined && { scenario }),
    ...(reason !== undefined && { reason }),
    ...(pool !== undefined && { pool }),
    ...(provider !== undefined && { provider }),
    ...(model !== undefined && { model }),
    status: ended.status,
    ...(fault && { fault }),
    ...(counts && Object.keys(counts).length > 0 && { usage: counts }),
    ...(cost !== undefined && { cost }),
    ...(firstByteMs !== undefined && { firstByteMs: round(firstByteMs) }),
    durationMs: round(ended.durationMs),
    ...(overheadMs !== undefined && { overheadMs: round(overheadMs) }),
    losses,
    ...(ended.lossCount > losses.length && { lossesOmitted: ended.lossCount - losses.length }),
    relayed: ended.relayed,
    ...(ended.failed.length > 0 && { failedAttempts: ended.failed }),
    captured: ended.captured,
  };
};

const countsOf = ({
  input,
  cacheRead,
  cacheWrite,
  output,
  reasoning,
}: Usage): NonNullable<RequestSummary['usage']> => ({
  ...(input !== undefined && { input }),
  ...(cacheRead !== undefined && { cacheRead }),
  ...(cacheWrite !== undefined && { cacheWrite }),
  ...(output !== undefined && { output }),
  ...(reasoning !== undefined && { reasoning }),
});

/** Rounds to tenths of a millisecond. */
const round = (ms: number): number => Math.round(ms * 10) / 10;

/** Converts a loss for a summary. */
export const showLoss = ({ step, path, outcome, note }: Loss): SummaryLoss => ({
  step,
  field: shorten(path),
  action: outcome,
  ...(note !== undefined && { note: shorten(note) }),
});
