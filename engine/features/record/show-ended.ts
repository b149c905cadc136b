import type { FailedAttempt } from '../../exchange.ts';
import { shorten } from '../../log/mask-text.ts';
import type { Usage } from '../../model/event.ts';
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

/** Renders the summary for the API and the files; omits unknown values. Each request is rendered: members that spreads add cost more. */
export const showEnded = (ended: EndedRequest): RequestSummary => {
  const { losses, failed, tools } = ended;
  const shown: RequestSummary = {
    n: ended.n,
    id: ended.id,
    startedAt: ended.startedAtMs,
    path: ended.path,
    protocol: ended.protocol,
    asked: ended.asked,
    stream: ended.stream,
    status: ended.status,
    durationMs: round(ended.durationMs),
    losses,
    relayed: ended.relayed,
    captured: ended.captured,
  };
  if (ended.preset !== undefined) shown.preset = ended.preset;
  if (ended.namedClient !== undefined) shown.client = ended.namedClient;
  if (ended.session !== undefined) shown.session = ended.session;
  if (tools.length > 0) shown.tools = tools;
  if (ended.turns > 0) shown.turns = ended.turns;
  if (ended.scenario !== undefined) shown.scenario = ended.scenario;
  if (ended.reason !== undefined) shown.reason = ended.reason;
  if (ended.pool !== undefined) shown.pool = ended.pool;
  if (ended.provider !== undefined) shown.provider = ended.provider;
  if (ended.model !== undefined) shown.model = ended.model;
  if (ended.fault) shown.fault = ended.fault;
  const usage = ended.usage && countsOf(ended.usage);
  if (usage) shown.usage = usage;
  if (ended.cost !== undefined) shown.cost = ended.cost;
  if (ended.firstByteMs !== undefined) shown.firstByteMs = round(ended.firstByteMs);
  if (ended.overheadMs !== undefined) shown.overheadMs = round(ended.overheadMs);
  if (ended.lossCount > losses.length) shown.lossesOmitted = ended.lossCount - losses.length;
  if (failed.length > 0) shown.failedAttempts = failed;
  return shown;
};

type Counts = NonNullable<RequestSummary['usage']>;

/** The counts that are known; `undefined`: none. */
const countsOf = ({ input, cacheRead, cacheWrite, output, reasoning }: Usage): Counts | undefined => {
  const counts: Counts = {};
  if (input !== undefined) counts.input = input;
  if (cacheRead !== undefined) counts.cacheRead = cacheRead;
  if (cacheWrite !== undefined) counts.cacheWrite = cacheWrite;
  if (output !== undefined) counts.output = output;
  if (reasoning !== undefined) counts.reasoning = reasoning;
  return Object.keys(counts).length > 0 ? counts : undefined;
};

/** Rounds to tenths of a millisecond. */
const round = (ms: number): number => Math.round(ms * 10) / 10;

/** Converts a loss for a summary. */
export const showLoss = ({ step, path, outcome, note }: Loss): SummaryLoss => ({
  step,
  field: shorten(path),
  action: outcome,
  ...(note !== undefined && { note: shorten(note) }),
});
