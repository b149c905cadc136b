import { performance } from 'node:perf_hooks';
import { shownName } from './config/env.ts';
import { listsModel, providerNamed } from './config/sections/destination.ts';
import type { ReplyProgress } from './exchange.ts';
import type { HttpRequest, ReplyPart } from './http/endpoint.ts';
import { type Linked, LinkedSet } from './http/ticker.ts';
import { sumUsage, type Usage } from './model/event.ts';
import type { Fault } from './model/fault.ts';
import type { Violation } from './model/grammar.ts';
import type { JsonObject } from './model/json/json.ts';
import type { Loss, Losses } from './model/loss.ts';
import type { ClientProtocol } from './model/protocol.ts';
import type { ModelRequest } from './model/request.ts';
import { clientGone, hasFailed } from './model/status.ts';
import type { ClientWire } from './model/wire/client-wires.ts';
import type {
  ObservedAttempt,
  ObservedCall,
  ObservedFailure,
  ObservedRefusal,
  ObservedRoute,
  Relays,
  RequestListener,
  TraceCarrier,
} from './observe/listener.ts';
import { costOf, isCost } from './routing/catalogue/catalogue.ts';
import type { KnownModel } from './routing/catalogue/known-model.ts';
import type { Gateway } from './routing/gateway.ts';

/** Why a request is made that no client has sent. */
interface RequestCause {
  readonly record: RequestRecord;
  readonly stage: string;
  readonly kind: 'next' | 'ask' | 'decide';
}

/** A model request as it begins. */
interface RequestStart {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly startedAtMs: number;
  readonly preset: string | undefined;
  readonly client: ClientProtocol;
  /** The client whose own key it carries. */
  readonly namedClient: string | undefined;
  readonly progress: ReplyProgress;
  readonly gateway: Gateway;
  /** The request that it is made for, by a stage. */
  readonly cause?: RequestCause | undefined;
  /** Its body is there until the upstream accepts the call. */
  readonly incoming: Pick<HttpRequest, 'method' | 'path' | 'query' | 'headers' | 'body' | 'header' | 'answerMemory'>;
}

/** Listens to requests that have records; its methods also get the record, which is up to date. */
export type RecordListener = RequestListener<readonly [RequestRecord]>;

/** `deciding`: before the upstream call. `waiting`: before the first byte to the client. `streaming`: after it. */
type Phase = 'deciding' | 'waiting' | 'streaming';

/** The records of the requests in flight, and who listens to all of them. */
export class RequestRecords {
  /** The oldest first. */
  readonly active = new LinkedSet<RequestRecord>();
  readonly #nowMs: () => number;
  #listeners: Listeners = { all: [], perChunk: [] };

  /** `nowMs`: a monotonic clock in milliseconds. */
  constructor(nowMs = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /** Sets who listens to the requests that begin from now on. */
  listen(all: readonly RecordListener[]): void {
    this.#listeners = { all, perChunk: all.filter(isPerChunk) };
  }

  begin(start: RequestStart): RequestRecord {
    const record = new RequestRecord(start, this.active, this.#listeners, this.#nowMs);
    this.active.add(record);
    for (const listener of this.#listeners.all) listener.began?.(record);
    return record;
  }
}

/** Those that listen to a request; few of them listen to each chunk. */
interface Listeners {
  readonly all: readonly RecordListener[];
  readonly perChunk: readonly RecordListener[];
}

const isPerChunk = ({ chunk, part }: RecordListener): boolean => chunk !== undefined || part !== undefined;

/** The name of what requests are counted by; an empty text is none. */
const seriesOf = (protocol: string, scenario: string, provider: string, client: string, model: string): string =>
  `${protocol}\n${scenario}\n${provider}\n${client}\n${model}`;

const noNames: readonly string[] = [];
const untouched: Relays = { request: false, reply: false };

/**
 * All that is known of one model request, from its arrival to its end. The pipeline fills it; what shows, counts or keeps requests reads
 * it. Times are in milliseconds since `startedMs`, except where a field says otherwise.
 */
export class RequestRecord implements RequestListener, Linked<RequestRecord> {
  before: RequestRecord | undefined = undefined;
  after: RequestRecord | undefined = undefined;
  readonly start: RequestStart;
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly startedAtMs: number;
  readonly preset: string | undefined;
  readonly namedClient: string | undefined;
  /** By the monotonic clock. */
  readonly startedMs: number;
  /** The rule that decided; like the fields below, `undefined` until the request is routed. */
  scenario: string | undefined = undefined;
  /** Why it was chosen, for users. Names here show references in place of variables' values. */
  reason: string | undefined = undefined;
  /** The pool of which the destination was chosen. */
  pool: string | undefined = undefined;
  provider: string | undefined = undefined;
  model: string | undefined = undefined;
  /** The configuration lists the model: clients choose others, so their number is unbounded. */
  isListed = false;
  /** Calls to upstreams. */
  calls = 0;
  calledMs: number | undefined = undefined;
  firstByteMs: number | undefined = undefined;
  /** Time to the first byte that the upstream had no part in. */
  overheadMs: number | undefined = undefined;
  /** 0 until the end. */
  durationMs = 0;
  /** The client's status; 499 if it left. 0 until the end. */
  status = 0;
  /** Of all answers, also of those that broke off and were repeated; `undefined`: there was none. */
  usage: Usage | undefined = undefined;
  /** What they cost, in nano-dollars, as far as it is known; `undefined`: of none. */
  cost: number | undefined = undefined;
  /** The limits of its client allowed it: what it uses is the client's. */
  isAdmitted = false;
  /** A part of `usage` is estimated. */
  isEstimated = false;
  /** The last fault, if no later attempt was accepted. */
  fault: Fault | undefined = undefined;
  /** An upstream accepted the call. */
  isAnswered = false;
  /** What passed unchanged. */
  relayed: Relays = untouched;
  /** The head of a stream to the client is sent. */
  isOpen = false;
  /** The conversation; `undefined`: unknown. */
  session: string | undefined = undefined;
  /** Names of the called tools whose results it brought. */
  tools: readonly string[] = noNames;
  /** Turns of the user in its conversation, without those that only bring results of tools. */
  turns = 0;
  /** Whether a capture of it is kept. */
  captured = false;
  /** Present if requests are traced. */
  trace: TraceCarrier | undefined = undefined;
  /** Serves the request: `start.gateway`, or one that reports its steps to a capture. */
  servedBy: Gateway;
  readonly #active: LinkedSet<RequestRecord>;
  readonly #nowMs: () => number;
  #route: ObservedRoute | undefined = undefined;
  #series: string | undefined = undefined;
  #listeners: Listeners;
  /** When the upstream's last chunk before the first byte arrived. */
  #upstreamMs: number | undefined = undefined;
  /** Those that were reported; few requests have any. */
  #faults: Set<Fault> | undefined = undefined;
  #losses: Losses | undefined = undefined;
  /** How many of `#losses` were there when the call was encoded. */
  #lossesBefore = 0;
  #known: KnownModel | undefined = undefined;
  /** What `cost` leaves out. */
  #unpaid: Usage | undefined = undefined;
  #isOver = false;

  constructor(start: RequestStart, active: LinkedSet<RequestRecord>, listeners: Listeners, nowMs: () => number) {
    this.start = start;
    this.id = start.id;
    this.startedAtMs = start.startedAtMs;
    this.preset = start.preset;
    this.namedClient = start.namedClient;
    this.servedBy = start.gateway;
    this.#active = active;
    this.#listeners = listeners;
    this.#nowMs = nowMs;
    this.startedMs = nowMs();
  }

  /** Adds one that listens to this request alone. */
  listen(listener: RecordListener): void {
    const { all, perChunk } = this.#listeners;
    this.#listeners = {
      all: [listener, ...all],
      perChunk: isPerChunk(listener) ? [listener, ...perChunk] : perChunk,
    };
  }

  get cause(): RequestCause | undefined {
    return this.start.cause;
  }

  get path(): string {
    return this.start.incoming.path;
  }

  get protocol(): ClientWire {
    return this.start.client.wire;
  }

  /** The model that the client asked for; empty if its body could not be read. */
  get asked(): string {
    return this.#shown(this.start.progress.requestedModel ?? '');
  }

  get stream(): boolean {
    return this.start.progress.streaming;
  }

  /** What requests are counted by: protocol, scenario, provider, client and model, empty where unknown. */
  get series(): string {
    const { protocol, scenario = '', provider = '', namedClient = '', model = '' } = this;
    this.#series ??= seriesOf(protocol, scenario, provider, namedClient, model);
    return this.#series;
  }

  /** The id by which the last upstream knows its call; `undefined`: it named none. */
  get upstreamId(): string | undefined {
    return this.start.progress.upstreamId;
  }

  /** Failed attempts before the answer. */
  get failedAttempts(): ReplyProgress['failed'] {
    return this.start.progress.failed;
  }

  get losses(): readonly Loss[] {
    return this.start.progress.context?.losses.list ?? noLosses;
  }

  get lossCount(): number {
    return this.start.progress.context?.losses.size ?? 0;
  }

  get phase(): Phase {
    if (this.firstByteMs !== undefined) return 'streaming';
    return this.calledMs === undefined ? 'deciding' : 'waiting';
  }

  /** Whether the client got an error. */
  get isFailed(): boolean {
    return hasFailed(this.status, this.fault !== undefined);
  }

  /** Whether an upstream may charge for it: it accepted a call, or the client left while one was under way. */
  get mayCost(): boolean {
    return this.isAnswered || (this.status === clientGone && this.calls > 0);
  }

  /**
   * What the same tokens cost at the default destination, in nano-dollars; `undefined`: one of both costs is unknown. What only one
   * vendor charges for is left out.
   */
  get defaultCost(): number | undefined {
    const { defaultDestination, modelFacts, catalogue } = this.start.gateway;
    const { cost, usage } = this;
    const route = this.#route;
    if (cost === undefined || !usage || !defaultDestination || !route) return undefined;
    if (defaultDestination.provider.name === route.provider.name && defaultDestination.model === route.model)
      return cost;
    const { price } = modelFacts(defaultDestination);
    if (!price) catalogue.wantPrices(defaultDestination.provider);
    const { input, cacheRead, cacheWrite, cacheWrite1h, output } = usage;
    return price && costOf({ input, cacheRead, cacheWrite, cacheWrite1h, output }, { price }, this.start.startedAtMs);
  }

  /** What tokens cost at the destination, in nano-dollars; `undefined`: unknown. */
  costOf(usage: Usage): number | undefined {
    // The table of prices may have been loaded since the call.
    if (!this.#known?.price) this.#known = this.#knownNow();
    const cost = this.#known && costOf(usage, this.#known, this.startedAtMs);
    return isCost(cost) ? cost : undefined;
  }

  #shown(name: string): string {
    return shownName(this.start.gateway.config.referred, name);
  }

  #knownNow(): KnownModel | undefined {
    const { config, modelFacts, catalogue } = this.start.gateway;
    const provider = this.#route && providerNamed(config.providers, this.#route.provider.name);
    const known = provider && modelFacts({ provider, model: this.#route?.model ?? '' });
    if (provider && !known?.price) catalogue.wantPrices(provider);
    return known;
  }

  decoded(decoded: { readonly request: ModelRequest }): void {
    for (const listener of this.#listeners.all) listener.decoded?.(decoded, this);
  }

  routed(routed: ObservedAttempt): void {
    const route = routed.resolution;
    const { provider, pool } = route;
    this.#route = route;
    this.scenario = route.scenario;
    this.reason = this.#shown(route.reason);
    this.pool = pool && this.#shown(pool.name);
    this.provider = this.#shown(provider.name);
    this.model = this.#shown(route.model);
    this.isListed = listsModel(provider, route.model);
    this.#series = undefined;
    for (const listener of this.#listeners.all) listener.routed?.(routed, this);
  }

  reconciled(routed: ObservedAttempt): void {
    for (const listener of this.#listeners.all) listener.reconciled?.(routed, this);
  }

  encoded(ready: ObservedCall): void {
    this.#reportAnswerLosses();
    this.#losses = ready.context.losses;
    this.#lossesBefore = ready.context.losses.size;
    for (const listener of this.#listeners.all) listener.encoded?.(ready, this);
  }

  /** The first call counts: what lies between it and the last one's answer is no overhead. */
  called(): void {
    this.calls += 1;
    this.calledMs ??= this.#nowMs() - this.startedMs;
    this.#known = this.#knownNow();
    for (const listener of this.#listeners.all) listener.called?.(this);
  }

  refused(answer: ObservedRefusal): void {
    for (const listener of this.#listeners.all) listener.refused?.(answer, this);
  }

  /** The upstream accepted; what is relayed is decided. Faults of earlier attempts are among the failed attempts. */
  answered(relays: Relays): void {
    this.fault = undefined;
    this.relayed = relays;
    this.isAnswered = true;
    for (const listener of this.#listeners.all) listener.answered?.(relays, this);
  }

  chunk(): void {
    if (this.firstByteMs === undefined) this.#upstreamMs = this.#nowMs() - this.startedMs;
    for (const listener of this.#listeners.perChunk) listener.chunk?.(this);
  }

  counted(usage: Usage): void {
    this.#add(usage);
    for (const listener of this.#listeners.all) listener.counted?.(usage, this);
  }

  /** Tokens that no upstream has counted, as far as their number is known; they cost the list price. */
  estimated(usage: Pick<Usage, 'input' | 'output'>): void {
    this.isEstimated = true;
    this.#add(usage);
  }

  brokeOff(fault: Fault): void {
    this.#noticed(fault);
    for (const listener of this.#listeners.all) listener.brokeOff?.(fault, this);
  }

  stageFailed(fault: Fault, cause: unknown): void {
    for (const listener of this.#listeners.all) listener.stageFailed?.(fault, cause, this);
  }

  stageLogged(stage: string, text: string, fields: JsonObject): void {
    for (const listener of this.#listeners.all) listener.stageLogged?.(stage, text, fields, this);
  }

  violated(violation: Violation, text: string): void {
    for (const listener of this.#listeners.all) listener.violated?.(violation, text, this);
  }

  attemptFailed(failure: ObservedFailure): void {
    this.#noticed(failure.fault);
    for (const listener of this.#listeners.all) listener.attemptFailed?.(failure, this);
  }

  retried(reason: string): void {
    for (const listener of this.#listeners.all) listener.retried?.(reason, this);
  }

  fellBack(to: Omit<ObservedRoute, 'scenario'>): void {
    for (const listener of this.#listeners.all) listener.fellBack?.(to, this);
  }

  failed(fault: Fault, error: unknown): void {
    this.#noticed(fault);
    for (const listener of this.#listeners.all) listener.failed?.(fault, error, this);
  }

  opened(): void {
    this.isOpen = true;
    for (const listener of this.#listeners.all) listener.opened?.(this);
  }

  firstByte(): void {
    this.firstByteMs = this.#nowMs() - this.startedMs;
    if (this.#upstreamMs !== undefined && this.calledMs !== undefined)
      this.overheadMs = Math.max(0, this.firstByteMs - (this.#upstreamMs - this.calledMs));
    for (const listener of this.#listeners.all) listener.firstByte?.(this);
  }

  part(part: ReplyPart): void {
    for (const listener of this.#listeners.perChunk) listener.part?.(part, this);
  }

  finished(status: number): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#active.delete(this);
    this.status = status;
    this.durationMs = this.#nowMs() - this.startedMs;
    this.#reportAnswerLosses();
    for (const listener of this.#listeners.all) listener.finished?.(status, this);
  }

  #add(usage: Usage): void {
    this.usage = this.usage ? sumUsage(this.usage, usage) : usage;
    const unpaid = this.#unpaid ? sumUsage(this.#unpaid, usage) : usage;
    const cost = this.costOf(unpaid);
    this.#unpaid = cost === undefined ? unpaid : undefined;
    if (cost !== undefined) this.cost = (this.cost ?? 0) + cost;
  }

  #noticed(fault: Fault): void {
    this.fault = fault;
    if (this.#faults?.has(fault)) return;
    this.#faults ??= new Set();
    this.#faults.add(fault);
    for (const listener of this.#listeners.all) listener.faulted?.(fault, this);
  }

  #reportAnswerLosses(): void {
    if (!this.#losses || this.#losses.size === this.#lossesBefore) return;
    const losses = this.#losses.list.slice(this.#lossesBefore);
    this.#lossesBefore = this.#losses.size;
    for (const listener of this.#listeners.all) listener.answerLost?.(losses, this);
  }
}

const noLosses: readonly Loss[] = [];
