import { randomInt } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { costOf } from '../../catalogue/catalogue.ts';
import type { KnownModel } from '../../catalogue/known-model.ts';
import type { RequestStart, RequestWatcher } from '../../feature.ts';
import type { ReplyPart } from '../../http/endpoint.ts';
import { type Linked, LinkedSet } from '../../http/ticker.ts';
import { type HiddenText, shorten, textMask } from '../../log/mask-text.ts';
import { fieldPattern, plainPath } from '../../model/client-paths.ts';
import type { Usage } from '../../model/event.ts';
import type { Fault } from '../../model/fault.ts';
import type { Losses } from '../../model/loss.ts';
import type { ModelRequest } from '../../model/request.ts';
import type {
  ObservedAttempt,
  ObservedCall,
  ObservedFailure,
  ObservedRefusal,
  ObservedRoute,
  PassThrough,
} from '../../observer.ts';
import type { RequestSummary, SummaryLoss } from '../record/schema.ts';
import { type EndedRequest, showEnded, showLoss } from '../record/show-ended.ts';
import { type CapturePolicy, type CaptureReason, Captures, maxCaptureBytes } from './captures.ts';
import { recordGateway } from './record-plan.ts';
import { cutBody, type RecordedClient, Recorder, type TimedRefusal } from './recorder.ts';
import { answeredTools, type SessionOf, spokenTurns } from './session-names.ts';
import type { ShowSettings } from './show-capture.ts';
import { Traffic } from './traffic.ts';

/** The recent model requests of this process. */
export interface History {
  /** Starts recording a request. */
  readonly started: (start: RequestStart) => RequestHistoryEntry;
  /** Number of the last request that ended; 0 if none. */
  readonly newest: () => number;
  /** Up to `limit` ended requests with a number above `after`, newest first; `client`: only those of this client. */
  readonly list: (after: number, limit: number, client?: string) => readonly RequestSummary[];
  /** The newest ended request with this id. */
  readonly find: (id: string) => RequestSummary | undefined;
  /** Requests in flight, oldest first. */
  readonly inFlight: () => readonly RequestHistoryEntry[];
  readonly captures: Captures;
  /** Counts by time; never cleared. */
  readonly traffic: Traffic;
  /** Removes all ended requests and captures from memory; `everything`: also what is kept of them elsewhere. */
  readonly clear: (scope: ClearScope) => Promise<void>;
}

/** What is removed of ended requests. `memory`: the list and the captures; what is kept on disk stays. */
export type ClearScope = 'memory' | 'everything';

/** A copy: the request lets go of its body before its end. */
const clientOf = ({ method, path, query, headers, body }: RecordedClient): RecordedClient => ({
  method,
  path,
  query,
  headers,
  body,
});

/** Options of the history. */
export interface HistoryOptions extends Omit<ShowSettings, 'secrets'> {
  /** Numbers requests so that several processes' numbers can be compared; absent: the process is the only one. */
  readonly numbersByTime?: boolean | undefined;
  /** Keys to mask. Return a new array when the list changes. */
  readonly secrets: () => readonly HiddenText[];
  readonly sessionOf: SessionOf;
  readonly policy: () => CapturePolicy;
  /** Get each request that ends. */
  readonly keepers?: readonly { readonly add: (request: EndedRequest) => void }[];
  /** Called when a request begins or ends. */
  readonly onChanged?: () => void;
  /** Called when all that have ended are forgotten. */
  readonly onCleared?: () => Promise<void>;
}

/** Numbers per millisecond, one per process: more than processes of a service. */
const numbersPerMs = 2_048;

/** The lowest number of a request that ends at this time, in milliseconds since 1970, where numbers are given by time. */
export const numberAt = (ms: number): number => ms * numbersPerMs;

/** Number of summaries kept. */
export const maxSummaries = 1_000;

/** Header that requests a capture of this request. */
const captureHeader = 'x-junctor-capture';

/** Creates an empty history. */
export const createHistory = ({
  secrets,
  numbersByTime = false,
  sessionOf,
  policy,
  keepers = [],
  onChanged,
  onCleared,
  ...settings
}: HistoryOptions): History => {
  const maskText = textMask(secrets);
  const captures = new Captures(policy);
  const room = new BodyRoom();
  const traffic = new Traffic();
  const inFlight = new LinkedSet<RequestHistoryEntry>();
  /** Tells requests of several processes and machines apart that end in the same millisecond. */
  const offset = randomInt(numbersPerMs);
  /** Ring buffer; the newest is at `count % maxSummaries`. */
  const ring: EndedRequest[] = [];
  let count = 0;
  let cleared = 0;
  let newest = 0;

  const ended = (record: RequestHistoryEntry, status: number): void => {
    inFlight.delete(record);
    count += 1;
    newest = numbersByTime ? Math.max(newest + numbersPerMs, numberAt(Date.now()) + offset) : count;
    const entry = record.keep(newest, status, maskText);
    ring[count % maxSummaries] = entry;
    const { startedAtMs, durationMs, fault, firstByteMs, protocol, provider, model } = entry;
    const route = provider === undefined || model === undefined ? undefined : { protocol, provider, model };
    traffic.ended(startedAtMs + durationMs, hasFailed(status, fault !== undefined), firstByteMs, route);
    for (const keeper of keepers) keeper.add(entry);
    const { recording } = record;
    if (entry.captured && recording) {
      const { recorder, reason } = recording;
      captures.add(showEnded(entry), recorder, { ...settings, secrets: secrets() }, reason);
    }
    onChanged?.();
  };

  const parts: EntryParts = { ended, traffic, sessionOf, captures, room };

  /** Iterates over ended requests, newest first. */
  function* newestFirst(): Generator<EndedRequest> {
    for (let n = count; n > Math.max(cleared, count - maxSummaries); n -= 1) {
      const ended = ring[n % maxSummaries];
      if (ended) yield ended;
    }
  }

  return {
    started(start) {
      const { incoming } = start;
      const isCaptured = captures.on || incoming.header(captureHeader) === '1';
      const recorder = isCaptured
        ? new Recorder(clientOf(incoming), maxCaptureBytes, { memory: incoming.answerMemory })
        : undefined;
      const record = new RequestHistoryEntry(start, recorder, parts);
      inFlight.add(record);
      onChanged?.();
      return record;
    },
    newest: () => newest,
    list(after, limit, client) {
      const found: RequestSummary[] = [];
      for (const request of newestFirst()) {
        if (request.n <= after || found.length === limit) break;
        if (client === undefined || request.namedClient === client) found.push(showEnded(request));
      }
      return found;
    },
    find(id) {
      for (const request of newestFirst()) if (request.id === id) return showEnded(request);
      return undefined;
    },
    inFlight: () => [...inFlight],
    captures,
    traffic,
    async clear(scope) {
      cleared = count;
      ring.length = 0;
      captures.clear();
      if (scope === 'everything') await onCleared?.();
    },
  };
};

/** Whether a request was answered with an error or broke off; not if its client left. */
export const hasFailed = (status: number, hasFault: boolean): boolean =>
  status !== clientGone && (status >= 400 || hasFault);

const clientGone = 499;

/** `deciding`: before the upstream call. `waiting`: before the first byte to the client. `streaming`: after it. */
type Phase = 'deciding' | 'waiting' | 'streaming';

const maxLosses = 50;

/** What all entries share. */
interface EntryParts {
  readonly ended: (record: RequestHistoryEntry, status: number) => void;
  readonly traffic: Traffic;
  readonly sessionOf: SessionOf;
  readonly captures: Captures;
  readonly room: BodyRoom;
}

/** What requests whose answers have begun may keep of their bodies, in bytes: each, and all together. */
const maxKeptBytes = 2_097_152;
const maxAllKeptBytes = 16_777_216;

/** The room for bodies that are kept for captures, should the answers break off. */
export class BodyRoom {
  #bytes = 0;

  /** Whether there is room for the bodies of a request. If so, `drop` must follow. */
  keep(bytes: number): boolean {
    if (bytes > maxKeptBytes || this.#bytes + bytes > maxAllKeptBytes) return false;
    this.#bytes += bytes;
    return true;
  }

  drop(bytes: number): void {
    this.#bytes -= bytes;
  }
}

/** The bodies of a request whose answer has begun. */
interface KeptBodies {
  readonly client: Uint8Array;
  readonly call: ObservedCall['call'];
  readonly bytes: number;
}

/** What becomes a capture at the request's end. */
interface Recording {
  readonly recorder: Recorder;
  readonly reason: CaptureReason;
  /** The reply is recorded from its beginning, by the entry. An asked-for recorder watches for itself. */
  readonly hasReply: boolean;
}

/**
 * The history entry of one request, from start to end. Does next to nothing per chunk once the answer has begun. Copies texts chosen by
 * clients only at the end, cut to a bounded length, so that a summary keeps nothing of the request alive.
 */
export class RequestHistoryEntry implements RequestWatcher, Linked<RequestHistoryEntry> {
  before: RequestHistoryEntry | undefined;
  after: RequestHistoryEntry | undefined;
  readonly start: RequestStart;
  /** Present if the request is captured. */
  readonly recorder: Recorder | undefined;
  readonly #startedMs: number;
  readonly #parts: EntryParts;
  #session: string | undefined;
  #tools: readonly string[] = noNames;
  #turns = 0;
  #route: ObservedRoute | undefined;
  #known: KnownModel | undefined;
  #calledMs: number | undefined;
  #calls = 0;
  #upstreamMs: number | undefined;
  #firstByteMs: number | undefined;
  #overheadMs: number | undefined;
  #usage: Usage | undefined;
  #fault: Fault | undefined;
  #isAnswered = false;
  #passThrough: PassThrough = { request: false, reply: false };
  #finished = false;
  /** The last call. Its body and the client's are let go of when the answer begins. */
  #sent: ObservedCall | undefined;
  /** Both bodies, kept for a capture should the answer break off. */
  #kept: KeptBodies | undefined;
  #recording: Recording | undefined;
  /** What the upstream answered to the last call, if that is a failure. */
  #refusal: TimedRefusal | undefined;
  /** Why the last call failed: the client may get another fault. */
  #callFault: Fault | undefined;
  /** The head of a stream is sent. */
  #isOpen = false;

  constructor(start: RequestStart, recorder: Recorder | undefined, parts: EntryParts) {
    this.start = start;
    this.recorder = recorder;
    this.#parts = parts;
    this.#startedMs = recorder?.startedMs ?? performance.now();
    this.#recording = recorder && { recorder, reason: { type: 'asked' }, hasReply: false };
  }

  get inspection(): RequestWatcher['inspection'] {
    const { recorder, start } = this;
    return recorder && { watcher: recorder, gateway: recordGateway(start.gateway, recorder) };
  }

  get recording(): Recording | undefined {
    return this.#recording;
  }

  get phase(): Phase {
    if (this.#firstByteMs !== undefined) return 'streaming';
    return this.#calledMs === undefined ? 'deciding' : 'waiting';
  }

  /** The destination; `undefined` until routed. */
  get route(): ObservedRoute | undefined {
    return this.#route;
  }

  decoded({ request }: { readonly request: ModelRequest }): void {
    const { client, namedClient, incoming } = this.start;
    const header = (name: string): string | undefined => incoming.header(name);
    this.#session = this.#parts.sessionOf({ client, namedClient, header, request });
    this.#tools = answeredTools(request);
    this.#turns = spokenTurns(request);
  }

  routed({ resolution }: ObservedAttempt): void {
    if (this.#route === undefined) {
      // By the time of its routing: what waited for a count or a module would fall into a step that may be over.
      this.#parts.traffic.began(
        Date.now(),
        this.start.client.wire,
        resolution.provider.name,
        shorten(resolution.model),
      );
    }
    this.#route = resolution;
  }

  encoded(call: ObservedCall): void {
    this.#dropBodies();
    this.#sent = call;
    this.#refusal = undefined;
    this.#callFault = undefined;
  }

  refused(answer: ObservedRefusal): void {
    const body = cutBody(answer.body, maxCaptureBytes);
    this.#refusal = { ...answer, body, atMs: performance.now() };
  }

  /** The first call counts: what lies between it and the last one's answer is no overhead. */
  called(): void {
    this.#calls += 1;
    this.#calledMs ??= performance.now();
    this.#known = this.#knownNow();
  }

  #knownNow(): KnownModel | undefined {
    const { config, modelFacts, catalogue } = this.start.gateway;
    const name = this.#route?.provider.name;
    const provider = config.providers.find((one) => one.name === name);
    const known = provider && modelFacts({ provider, model: this.#route?.model ?? '' });
    if (provider && !known?.price) catalogue.wantPrices(provider);
    return known;
  }

  /** The table of prices may have been loaded since the call. */
  #cost(): number | undefined {
    const known = this.#known?.price ? this.#known : this.#knownNow();
    return this.#usage && known && costOf(this.#usage, known, this.start.startedAtMs);
  }

  /** What the same tokens cost at the default destination. What only one vendor charges for is left out. */
  #defaultCost(cost: number | undefined): number | undefined {
    const { defaultDestination, modelFacts, catalogue } = this.start.gateway;
    const route = this.#route;
    if (cost === undefined || !this.#usage || !defaultDestination || !route) return undefined;
    if (defaultDestination.provider.name === route.provider.name && defaultDestination.model === route.model)
      return cost;
    const { price } = modelFacts(defaultDestination);
    if (!price) catalogue.wantPrices(defaultDestination.provider);
    const { input, cacheRead, cacheWrite, cacheWrite1h, output } = this.#usage;
    return price && costOf({ input, cacheRead, cacheWrite, cacheWrite1h, output }, { price }, this.start.startedAtMs);
  }

  /** The upstream accepted; what passes through is decided. Faults of earlier attempts are among the attempts. */
  answered(passThrough: PassThrough): void {
    this.#keepBodies();
    const losses = this.#sent?.context.losses;
    if (losses !== undefined && losses.size > 0) this.#captureLossy(losses);
    this.#fault = undefined;
    this.#passThrough = passThrough;
    this.#isAnswered = true;
  }

  chunk(): void {
    if (this.#firstByteMs !== undefined) return;
    this.#upstreamMs = performance.now();
  }

  usage(usage: Usage): void {
    this.#usage = usage;
  }

  fault(fault: Fault): void {
    this.#fault = fault;
    this.#captureFault(fault);
  }

  attemptFailed({ fault }: ObservedFailure): void {
    this.#fault = fault;
    this.#callFault = fault;
  }

  failed(fault: Fault): void {
    this.#fault = fault;
    this.#captureFault(fault);
    this.#sent = undefined;
  }

  #captureFault(fault: Fault): void {
    const { captures } = this.#parts;
    const recording = this.#recording ?? (captures.keepsFailed ? this.#record({ type: 'failed' }) : undefined);
    if (recording === undefined || recording.reason.type === 'asked') return;
    this.#recording = { ...recording, reason: { type: 'failed' } };
    recording.recorder.callFailed(this.#callFault ?? fault, this.#refusal);
  }

  /** Captures the request without being asked, if this kind of loss wasn't captured just now. */
  #captureLossy(losses: Losses): void {
    if (this.#recording) return;
    const kind = this.#parts.captures.takeLossy(() => lossKind(losses));
    if (kind !== undefined) this.#recording = this.#record({ type: 'lossy', kind });
  }

  /** A recording of what is known so far; `undefined`: the bodies are gone. */
  #record(reason: CaptureReason): Recording | undefined {
    const { incoming: request } = this.start;
    const body = this.#kept?.client ?? request.body;
    if (body.length === 0) return undefined;
    const client = { ...clientOf(request), body: cutBody(body, maxCaptureBytes) };
    const recorder = new Recorder(client, maxCaptureBytes, { startedMs: this.#startedMs });
    recorder.catchUp(this.#sent, this.#kept?.call);
    return { recorder, reason, hasReply: !this.#isOpen };
  }

  part(part: ReplyPart): void {
    if (part.type === 'head') this.#isOpen = true;
    if (this.#recording?.hasReply) this.#recording.recorder.part(part);
  }

  /** By reference: an answer that ends well costs no copy. */
  #keepBodies(): void {
    const client = this.start.incoming.body;
    const call = this.#sent?.call;
    if (this.#recording || !call || !this.start.gateway.config.history.captureFailed) return;
    const bytes = client.length + call.body.length;
    if (this.#parts.room.keep(bytes)) this.#kept = { client, call, bytes };
  }

  #dropBodies(): void {
    if (this.#kept) this.#parts.room.drop(this.#kept.bytes);
    this.#kept = undefined;
  }

  firstByte(): void {
    if (this.#firstByteMs !== undefined) return;
    const nowMs = performance.now();
    this.#firstByteMs = nowMs - this.#startedMs;
    if (this.#upstreamMs !== undefined && this.#calledMs !== undefined) {
      this.#overheadMs = Math.max(0, this.#firstByteMs - (this.#upstreamMs - this.#calledMs));
    }
  }

  finished(status: number): void {
    if (this.#finished) return;
    this.#finished = true;
    this.#dropBodies();
    this.#parts.ended(this, status);
  }

  /** Replaces the times of a recorder that was filled afterwards by those that are known. */
  #setMarks({ marks }: Recorder): void {
    marks.clear();
    marks.set('received', 0);
    if (this.#calledMs !== undefined) marks.set('called', this.#calledMs - this.#startedMs);
    if (this.#firstByteMs !== undefined) marks.set('firstByte', this.#firstByteMs);
  }

  /** Returns the data to keep after the end, as request number `n`; `maskText` removes secrets from upstream messages. */
  keep(n: number, status: number, maskText: (text: string) => string): EndedRequest {
    const { id, startedAtMs, incoming, preset, client, namedClient, progress } = this.start;
    const route = this.#route;
    const fault = this.#fault;
    const losses = progress.context?.losses;
    const cost = this.#cost();
    const durationMs = performance.now() - this.#startedMs;
    if (this.#recording && this.#recording.reason.type !== 'asked') this.#setMarks(this.#recording.recorder);
    this.#recording?.recorder.marks.set('end', durationMs);
    return {
      n,
      id,
      startedAtMs,
      path: incoming.path,
      preset,
      protocol: client.wire,
      namedClient,
      session: this.#session,
      tools: this.#tools.length === 0 ? noNames : this.#tools.map((name) => shorten(name, maxNameChars)),
      turns: this.#turns,
      asked: shorten(progress.requestedModel ?? ''),
      stream: progress.streaming,
      scenario: route?.scenario,
      reason: route?.reason === undefined ? undefined : shorten(route.reason),
      pool: route?.pool?.name,
      provider: route?.provider.name,
      model: route === undefined ? undefined : shorten(route.model),
      status,
      fault: fault && { kind: fault.kind, message: shorten(maskText(fault.message), 500) },
      usage: this.#usage,
      cost,
      defaultCost: this.#defaultCost(cost),
      firstByteMs: this.#firstByteMs,
      durationMs,
      overheadMs: this.#overheadMs,
      losses: losses === undefined || losses.size === 0 ? noLosses : losses.list.slice(0, maxLosses).map(showLoss),
      lossCount: losses?.size ?? 0,
      failed: progress.failed,
      relayed: this.#passThrough,
      // A client that left is no failure.
      captured: this.#recording !== undefined && (this.#recording.reason.type === 'asked' || status !== clientGone),
      calls: this.#calls,
      isFailed: hasFailed(status, fault !== undefined),
      mayCost: this.#isAnswered || (status === clientGone && this.#calls > 0),
    };
  }
}

/** Names the fields that were lost. */
const lossKind = ({ list }: Losses): string => {
  const fields = new Set(
    list.slice(0, maxLosses).map(({ step, path }) => `${step} ${shorten(plainPath(fieldPattern(path)))}`),
  );
  return [...fields].sort().join();
};

const noLosses: readonly SummaryLoss[] = [];
const noNames: readonly string[] = [];
const maxNameChars = 64;
