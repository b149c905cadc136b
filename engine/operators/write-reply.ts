import { identity, map, type Observable } from 'rxjs';
import type { Config } from '../config/config.ts';
import { showReferencesInFault } from '../config/env.ts';
import {
  type Answered,
  type Exchange,
  type FailedAttempt,
  type ReplyProgress,
  type Routed,
  releaseBody,
} from '../exchange.ts';
import { dataLength, type ReplyPart } from '../http/endpoint.ts';
import type { Batch, ErrorEvent, ModelEvent } from '../model/event.ts';
import { type Fault, FaultError, faultOf } from '../model/fault.ts';
import { type JsonObject, withinStack, writeJson } from '../model/json/json.ts';
import { writeJsonInPieces } from '../model/json/long-texts.ts';
import { type Loss, lossRank } from '../model/loss.ts';
import { type Running, runWhole } from '../model/machine.ts';
import type { Headers } from '../model/protocol.ts';
import { plainLimits } from '../model/rate-limit.ts';
import { foldReply, isFault } from '../model/reply.ts';
import { clientGone } from '../model/status.ts';
import { fieldPattern, plainPath } from '../model/wire/client-paths.ts';
import { sseText } from '../model/wire/sse.ts';
import type { AnswerChunk, SseRecord } from '../model/wire/sse-record.ts';
import { shorten } from '../observe/log/mask-text.ts';
import { nanoPerUsd } from '../routing/catalogue/catalogue.ts';
import { BoundedMap, memoize } from '../runtime/memoize.ts';
import { AnswerReservation, largeBytes } from './bound-answer.ts';
import { hideCredentials } from './hide-credentials.ts';
import { relayedRecords } from './relay-records.ts';
import type { SequenceStep } from './rx/sequence.ts';
import { type Handlers, inSlices, type StageControl, type StageList, type StreamStage } from './rx/stages.ts';
import { upstreamIdHeader } from './upstream-id.ts';

/** Events → what the client asked for: a stream of its protocol, or one whole reply. */
export const encodeEvents = (): StreamStage<Answered, Batch, ReplyPart> => (answered) =>
  answered.progress.streaming ? new StreamEncoder(answered) : encodeWhole(answered);

class StreamEncoder implements Handlers<Batch, ReplyPart> {
  readonly step = 'encode-stream';
  readonly #writing: Running<ModelEvent, SseRecord>;

  constructor({ plan, context, progress }: Answered) {
    this.#writing = plan.graph.encodeStream.work.start(context);
    progress.writing = this.#writing;
  }

  next(batch: Batch): ReplyPart | undefined {
    const records: SseRecord[] = [];
    for (const event of batch) this.#writing.step(event, records);
    return records.length > 0 ? { type: 'data', records } : undefined;
  }

  end(): ReplyPart | undefined {
    const records: SseRecord[] = [];
    this.#writing.end(records);
    return records.length > 0 ? { type: 'data', records } : undefined;
  }
}

const encodeWhole = (answered: Answered): Handlers<Batch, ReplyPart> => {
  const events: ModelEvent[] = [];
  let length = 0;
  let writing: Observable<ReplyPart> | undefined;
  const whole = (body: string | Uint8Array): ReplyPart => ({
    type: 'whole',
    status: 200,
    headers: answerHeaders(jsonAnswer, answered, limitHeaders(answered.answer.headers)),
    body,
  });
  return {
    step: 'encode-reply',
    next(batch) {
      for (const event of batch) {
        events.push(event);
        if (event.type === 'text-delta' || event.type === 'thinking-delta') length += event.text.length;
      }
      return undefined;
    },
    end() {
      const folded = foldReply(events);
      if (isFault(folded)) throw new FaultError(folded);
      const encode = (): JsonObject => answered.plan.graph.encodeReply.work(folded, answered.context);
      const { longTexts } = answered.context;
      if (!longTexts && length < largeBytes) return whole(unlessTooDeep(() => writeJson(encode())));
      const work = writeJsonInPieces(unlessTooDeep(encode), longTexts ?? []);
      writing = inSlices('encode-reply', () => unlessTooDeep(() => work.next())).pipe(map(whole));
      return undefined;
    },
    ending: () => writing,
  };
};

const unlessTooDeep = <T>(work: () => T): T =>
  withinStack('upstream-garbled', "The upstream's answer is nested too deeply.", work);

/**
 * Sends the head before the first part of a stream, and records the answer's progress. `late`: what the head says is known only when
 * there is such a part.
 */
export const sendReply =
  ({ late = false } = {}): StreamStage<Answered, ReplyPart, ReplyPart> =>
  (answered, control) =>
    new ReplySender(answered, control, late);

class ReplySender implements Handlers<ReplyPart, ReplyPart> {
  readonly first: ReplyPart | undefined;
  readonly #answered: Answered;
  readonly #control: StageControl<ReplyPart>;
  readonly #late: boolean;
  /** Counted until the client has it, which releases the reservation. */
  readonly #reservation: AnswerReservation;

  constructor(answered: Answered, control: StageControl<ReplyPart>, late: boolean) {
    this.first = answered.progress.streaming && !late ? streamHead(answered) : undefined;
    this.#answered = answered;
    this.#control = control;
    this.#late = late;
    this.#reservation = new AnswerReservation(answered.answerMemory);
  }

  next(part: ReplyPart): ReplyPart {
    const { progress } = this.#answered;
    if (this.#late && progress.streaming && !progress.begun) this.#control.emit(streamHead(this.#answered));
    if (part.type === 'whole') this.#reservation.set(part.body.length);
    else if (part.type === 'data') {
      this.#reservation.set(part.records ? dataLength(part) : part.data.length);
      progress.opened = true;
    }
    if (!progress.begun) releaseBody(this.#answered);
    progress.begun = true;
    return part;
  }
}

const streamHead = (answered: Answered): ReplyPart => ({
  type: 'head',
  status: 200,
  headers: answerHeaders(streamAnswer, answered, limitHeaders(answered.answer.headers)),
});

/** The upstream's body → what the client gets, by the list of stages that `choose` picks for this answer. */
export const writeReply =
  (choose: (answered: Answered) => StageList<Answered, AnswerChunk, ReplyPart>): SequenceStep<Answered, ReplyPart> =>
  (answered) =>
    choose(answered)(answered)(answered.answer.body);

/**
 * Shows a client its limits in every answer, errors too, by the headers of its protocol. The provider's headers about its own
 * limits are removed: they are those of an account that many clients share.
 */
export const showLimits =
  (): StreamStage<Exchange, ReplyPart, ReplyPart> =>
  ({ client, admission }) =>
    admission?.isLimited
      ? {
          next(part) {
            if (part.type === 'data') return part;
            return { ...part, headers: { ...withoutLimits(part.headers), ...client.limitHeaders(admission.rates) } };
          },
        }
      : unchanged;

/** Header that asks for the price of the answer, and says it. */
const costHeader = 'x-junctor-cost';

/**
 * Says what an answer costs in USD, if the client asks: in a header of a whole one; in a comment after the last record of a stream,
 * whose headers are sent before the price is known.
 */
export const showCost =
  (): StreamStage<Exchange, ReplyPart, ReplyPart> =>
  ({ incoming, listener }) => {
    if (incoming.header(costHeader) !== '1') return unchanged;
    let isStream = false;
    return {
      next(part) {
        if (part.type === 'head') isStream = part.status === 200;
        if (part.type !== 'whole' || part.status !== 200) return part;
        return { ...part, headers: { ...part.headers, [costHeader]: usdOf(listener.cost) } };
      },
      end: () => (isStream ? { type: 'data', data: `: ${costHeader}: ${usdOf(listener.cost)}\n\n` } : undefined),
    };
  };

/** A decimal number without an exponent. */
const usdOf = (nano: number | undefined): string =>
  nano === undefined
    ? 'unknown'
    : (nano / nanoPerUsd)
        .toFixed(9)
        .replace(/(?<!0)0+$/, '')
        .replace(/\.$/, '');

const unchanged: Handlers<ReplyPart, ReplyPart> = { next: identity };

const withoutLimits = (headers: Headers): Headers =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !name.includes('-ratelimit-')));

/** The headers of every SSE answer. They forbid proxies to buffer or rewrite it. */
export const streamHeaders: Headers = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

const jsonHeaders: Headers = { 'content-type': 'application/json; charset=utf-8' };

/** The upstream's headers about rate limits and waiting times, as far as their values can be nothing else. */
export const limitHeaders = (headers: Headers): Headers => {
  let kept: Record<string, string> | undefined;
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined || !limitNames.remember(name, isLimitName)) continue;
    kept ??= {};
    kept[name] = value;
  }
  return kept ? plainLimits(kept) : noHeaders;
};

const noHeaders: Headers = {};

/** Whether a header is about limits, by its name: upstreams repeat the same few. */
const limitNames = new BoundedMap<string, boolean>(500);
const isLimitName = (name: string): boolean => limitHeader.test(name);

const limitHeader = /^(?:retry-after(?:-ms)?|x-should-retry|x-ratelimit-.+|[a-z]+-ratelimit-.+)$/;

/** Headers of a kind of answers, with the one that shows the destination: by plan and scenario, since all of their answers have the same. */
const answersWith = (own: Headers) =>
  memoize(({ shown }: Routed['plan']) => {
    const known = new BoundedMap<string, Headers>(100);
    const show = (scenario: string): Headers => ({ ...own, ...routeHeader({ ...shown, scenario }) });
    return (scenario: string) => known.remember(scenario, show);
  });

export const jsonAnswer = answersWith(jsonHeaders);
const streamAnswer = answersWith(streamHeaders);

/** An answer's headers: its kind's, those about limits, and those that show the destination, the rule, failed attempts and losses. */
export const answerHeaders = (kind: typeof jsonAnswer, routed: Routed, limits = noHeaders): Headers => {
  const { resolution, plan, context, progress } = routed;
  const headers = kind(plan)(resolution.scenario);
  const lost = context.losses.size === 0 ? '' : lossHeader(context.losses.list);
  if (limits === noHeaders && lost === '' && progress.failed.length === 0 && progress.upstreamId === undefined)
    return headers;
  // Spread into one object, several others take ten times as long.
  return Object.assign(
    {},
    headers,
    limits,
    attemptsHeaders(progress),
    lost !== '' && { 'x-junctor-loss': lost },
    idHeader(progress),
  );
};

/** The header that shows the destination. */
const routeHeader = ({ provider, model, scenario }: NonNullable<Fault['from']>): Headers => ({
  'x-junctor-route': `${headerText(provider)},${headerText(model)};${headerText(scenario)}`,
});

/** Clients choose a model's name, and their HTTP libraries limit the length of a header. */
const maxHeaderText = 256;

/** A name for a header: printable ASCII as it is, other characters percent-encoded in UTF-8; cut at `maxHeaderText`. */
export const headerText = (name: string): string => {
  if (name.length <= maxHeaderText && !notPrintable.test(name)) return name;
  let text = '';
  for (const character of name.slice(0, maxHeaderText)) {
    const shown = notPrintable.test(character) ? encoded(character) : character;
    if (text.length + shown.length > maxHeaderText) break;
    text += shown;
  }
  return text;
};

const notPrintable = /[^\x20-\x7e]/;

/** A lone surrogate has no encoding. */
const encoded = (character: string): string =>
  encodeURIComponent(/\p{Surrogate}/u.test(character) ? '\ufffd' : character);

const maxLossHeader = 1_024;
const maxLossPath = 128;

/**
 * Lists the losses that can change the answer in at most 1 KiB of ASCII; empty if there are none: `dropped: top_k, tools[].cache_control*3; approximated: temperature; +12`. Paths that
 * differ only in indices are listed once, with their number. What changes the answer most comes first. The last number counts the
 * losses left out.
 */
export const lossHeader = (losses: readonly Loss[]): string => {
  let free = maxLossHeader - 'dropped: ; approximated: ; +999999'.length;
  let left = 0;
  const kept: Record<Loss['outcome'], string[]> = { dropped: [], approximated: [] };
  for (const { outcome, paths } of byWeight(losses)) {
    const text = lossText(paths);
    free -= text.length + 2;
    if (free < 0) left += paths.size;
    else kept[outcome].push(text);
  }
  const lists = (['dropped', 'approximated'] as const).flatMap((outcome) =>
    kept[outcome].length > 0 ? [`${outcome}: ${kept[outcome].join(', ')}`] : [],
  );
  return [...lists, ...(left > 0 ? [`+${left}`] : [])].join('; ');
};

/** The paths of losses that differ only in indices. */
interface LossGroup {
  readonly outcome: Loss['outcome'];
  readonly rank: number;
  readonly paths: Set<string>;
}

/** The losses in groups, those that change the answer most first; of equal weight, dropped ones first. */
const byWeight = (losses: readonly Loss[]): readonly LossGroup[] => {
  const groups = new Map<string, LossGroup>();
  for (const loss of losses) {
    if (lossRank(loss) === 2) continue;
    const { outcome, path } = loss;
    const key = `${outcome} ${fieldPattern(path)}`;
    const group = groups.get(key);
    if (group) group.paths.add(path);
    else groups.set(key, { outcome, rank: lossRank(loss), paths: new Set([path]) });
  }
  const order = ({ rank, outcome }: LossGroup): number => 2 * rank + (outcome === 'dropped' ? 0 : 1);
  return [...groups.values()].sort((a, b) => order(a) - order(b));
};

/** Field names come from clients, so non-ASCII characters and the list's own punctuation are replaced. */
const lossText = (paths: ReadonlySet<string>): string => {
  const [first = ''] = paths;
  const text = plainPath(paths.size > 1 ? fieldPattern(first) : first);
  const short = text.length > maxLossPath ? `${text.slice(0, maxLossPath - 2)}..` : text;
  return paths.size > 1 ? `${short}*${paths.size}` : short;
};

const none: Headers = {};
const maxAttemptsHeader = 1_024;
const maxName = 128;

/** The header with the last call's id as its upstream named it. Empty if it named none. */
const idHeader = ({ upstreamId }: Pick<ReplyProgress, 'upstreamId'>): Headers =>
  upstreamId === undefined ? noHeaders : { [upstreamIdHeader]: upstreamId };

/** The header that lists failed attempts in at most 1 KiB: `p,m=503; q,n=429; +2`. Empty if there were none. */
const attemptsHeaders = ({ failed }: Pick<ReplyProgress, 'failed'>): Headers =>
  failed.length === 0 ? none : { 'x-junctor-attempts': attemptsHeader(failed) };

const attemptsHeader = (failed: readonly FailedAttempt[]): string => {
  let free = maxAttemptsHeader - '; +9999'.length;
  const texts: string[] = [];
  for (const { provider, model, outcome } of failed) {
    const text = `${plainName(provider)},${plainName(model)}=${outcome}`;
    free -= text.length + 2;
    if (free < 0) break;
    texts.push(text);
  }
  const left = failed.length - texts.length;
  return [...texts, ...(left > 0 ? [`+${left}`] : [])].join('; ');
};

const plainName = (name: string): string => plainPath(name).slice(0, maxName);

/**
 * Reports a fault and writes it in the client's error format: as a reply with a status, or as an open stream's last record. An
 * interruption of the request is such a fault. It shows references in place of the values of variables.
 */
export const renderFaults =
  ({ referred }: Pick<Config, 'referred'>): StreamStage<Exchange, ReplyPart, ReplyPart> =>
  (exchange, control) => {
    let isOver = false;
    const failed = (error: unknown): ReplyPart => {
      const fault = showReferencesInFault(referred, faultOf(error));
      exchange.listener.failed?.(fault, error);
      if (exchange.progress.opened) {
        return { type: 'data', records: lastRecords(exchange, fault), afterPart: !exchange.progress.betweenRecords };
      }
      return isSentAsStream(exchange, fault) ? wholeStream(exchange, fault) : wholeFault(exchange, fault);
    };
    exchange.incoming.onInterrupted?.((fault) => {
      if (isOver) return;
      control.emit(failed(new FaultError(fault)));
      control.complete();
    });
    return {
      next: identity,
      failed,
      finalize() {
        isOver = true;
      },
    };
  };

const wholeFault = ({ client, id, progress }: Exchange, fault: Fault): ReplyPart => {
  const { status, body } = client.encodeFault(fault, id);
  const headers = { ...jsonHeaders, ...faultHeaders(fault), ...attemptsHeaders(progress), ...idHeader(progress) };
  return { type: 'whole', status, headers, body: JSON.stringify(body) };
};

const faultHeaders = ({ headers, from }: Fault): Headers => ({ ...headers, ...(from && routeHeader(from)) });

const isSentAsStream = ({ client, progress }: Exchange, { kind }: Fault): boolean =>
  progress.streaming && progress.context !== undefined && client.inStreamFaults?.has(kind) === true;

/** A stream that holds only the fault. */
const wholeStream = (exchange: Exchange, fault: Fault): ReplyPart => ({
  type: 'whole',
  status: 200,
  headers: {
    ...streamHeaders,
    ...faultHeaders(fault),
    ...attemptsHeaders(exchange.progress),
    ...idHeader(exchange.progress),
  },
  body: sseText(lastRecords(exchange, fault)),
});

/** If the answer hasn't begun, its opening events come first. The end of a converted stream with numbers is written by what has numbered its records. */
const lastRecords = ({ client, id, progress }: Exchange, fault: Fault): readonly SseRecord[] => {
  const { begun, context, writing } = progress;
  if (!begun && context) return runWhole(client.encodeStream, context, [{ type: 'error', fault }]);
  const records: SseRecord[] = [];
  if (client.numberMarker !== undefined) writing?.step({ type: 'error', fault }, records);
  return records.length > 0 ? records : client.encodeBreak(fault, id, relayedRecords(progress));
};

/** Adds the provider and the model to a fault. They come last, since clients match the start of messages. */
export const nameDestination = (fault: Fault, { resolution }: Pick<Routed, 'resolution'>): Fault => {
  if (fault.from) return fault;
  const { model, scenario } = resolution;
  const provider = resolution.provider.name;
  const from = { provider, model, scenario };
  if (!fault.kind.startsWith('upstream-')) return { ...fault, from };
  return { ...fault, from, message: `${fault.message} (provider ${provider}, model ${shorten(model)})` };
};

/**
 * Ends the events at an `error` event. While nothing of the answer has reached the client the fault is thrown instead: a retry
 * or fallback may still answer, and otherwise the answer can have the fault's own status.
 */
export const endOnFault = (): StreamStage<Answered, Batch, Batch> => (answered, control) =>
  new FaultEnd(answered, control);

class FaultEnd implements Handlers<Batch, Batch> {
  readonly #answered: Answered;
  readonly #control: StageControl<Batch>;

  constructor(answered: Answered, control: StageControl<Batch>) {
    this.#answered = answered;
    this.#control = control;
  }

  next(batch: Batch): Batch {
    for (const event of batch) if (event.type === 'error') return this.#endAt(batch, event);
    return batch;
  }

  #endAt(batch: Batch, error: ErrorEvent): Batch {
    const answered = this.#answered;
    const hidden = hideCredentials(error.fault, answered.call.headers);
    if (!answered.progress.begun) throw new FaultError(hidden);
    const fault = nameDestination(hidden, answered);
    answered.progress.broken = fault;
    answered.listener.brokeOff?.(fault);
    this.#control.complete();
    return [...batch.slice(0, batch.indexOf(error)), { type: 'error', fault }];
  }
}

/** Reports what the client gets: the parts, the first byte of the answer, and the final status. Must be the last stage. */
export const observeReply = (): StreamStage<Exchange, ReplyPart, ReplyPart> => (exchange) =>
  new ReplyObserver(exchange);

class ReplyObserver implements Handlers<ReplyPart, ReplyPart> {
  readonly #exchange: Exchange;
  #sent = 500;
  #status: number = clientGone;
  #isOpen = false;
  #hasBegun = false;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
  }

  next(part: ReplyPart): ReplyPart {
    const { listener, progress } = this.#exchange;
    listener.part?.(part);
    if (part.type === 'head') {
      this.#sent = part.status;
      return part;
    }
    if (part.type === 'data') {
      if (!this.#isOpen) listener.opened?.();
      this.#isOpen = true;
      if (!progress.begun) return part;
      // Set now: the subscriber may unsubscribe as soon as it has a whole reply.
    } else this.#status = this.#sent = part.status;
    if (!this.#hasBegun) listener.firstByte?.();
    this.#hasBegun = true;
    return part;
  }

  end(): undefined {
    this.#status = this.#sent;
  }

  failed(error: unknown): never {
    this.#status = 500;
    throw error;
  }

  finalize(): void {
    this.#exchange.listener.finished?.(this.#status);
    this.#exchange.over();
  }
}
