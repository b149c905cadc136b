import {
  type Answered,
  type Exchange,
  type FailedAttempt,
  type ReplyProgress,
  type Routed,
  releaseBody,
} from '../exchange.ts';
import type { ReplyPart } from '../http/endpoint.ts';
import { fieldPattern, plainPath } from '../model/client-paths.ts';
import type { Batch, ModelEvent } from '../model/event.ts';
import { type Fault, FaultError, withinStack } from '../model/fault.ts';
import { writeJson } from '../model/json/json.ts';
import type { Loss } from '../model/loss.ts';
import type { Headers } from '../model/protocol.ts';
import { foldReply, isFault } from '../model/reply.ts';
import type { SequenceStep } from './rx/sequence.ts';
import type { Handlers, StageList, StreamStage } from './rx/stages.ts';

/** Events → what the client asked for: a stream of its protocol, or one whole reply. */
export const encodeEvents = (): StreamStage<Answered, Batch, ReplyPart> => (answered) =>
  answered.progress.streaming ? encodeStream(answered) : encodeWhole(answered);

const encodeStream = ({ plan, context, progress }: Answered): Handlers<Batch, ReplyPart> => {
  const writing = plan.graph.encodeStream.work.start(context);
  progress.progress = () => {
    const texts: string[] = [];
    writing.progress?.(texts);
    return texts.join('');
  };
  return {
    next(batch) {
      const texts: string[] = [];
      for (const event of batch) writing.step(event, texts);
      return toData(texts);
    },
    end() {
      const texts: string[] = [];
      writing.end(texts);
      return toData(texts);
    },
  };
};

/** One write per batch. */
const toData = (texts: readonly string[]): ReplyPart | undefined =>
  texts.length > 0 ? { type: 'data', data: texts.join('') } : undefined;

const encodeWhole = (answered: Answered): Handlers<Batch, ReplyPart> => {
  const events: ModelEvent[] = [];
  return {
    next(batch) {
      for (const event of batch) events.push(event);
      return undefined;
    },
    end() {
      const folded = foldReply(events);
      if (isFault(folded)) throw new FaultError(folded);
      const body = withinStack('upstream-garbled', "The upstream's answer is nested too deeply.", () =>
        writeJson(answered.plan.graph.encodeReply.work(folded, answered.context)),
      );
      return {
        type: 'whole',
        status: 200,
        headers: { ...jsonHeaders, ...limitHeaders(answered.answer.headers), ...routeHeaders(answered) },
        body,
      };
    },
  };
};

/** Sends the head before the first part of a stream, and records the answer's progress. */
export const sendReply = (): StreamStage<Answered, ReplyPart, ReplyPart> => (answered) => {
  const { progress } = answered;
  return {
    first: progress.streaming ? streamHead(answered) : undefined,
    next(part) {
      if (part.type === 'data') progress.opened = true;
      if (!progress.begun) releaseBody(answered);
      progress.begun = true;
      return part;
    },
  };
};

const streamHead = (answered: Answered): ReplyPart => ({
  type: 'head',
  status: 200,
  headers: { ...streamHeaders, ...limitHeaders(answered.answer.headers), ...routeHeaders(answered) },
});

/** The upstream's body → what the client gets, by the list of stages that `choose` picks for this answer. */
export const writeReply =
  (choose: (answered: Answered) => StageList<Answered, Uint8Array, ReplyPart>): SequenceStep<Answered, ReplyPart> =>
  (answered) =>
    choose(answered)(answered)(answered.answer.body);

/**
 * Shows a client its limits in every answer, errors too, by the headers of its protocol. The provider's headers about its own
 * limits are removed: they are those of an account that many clients share.
 */
export const showLimits =
  (): StreamStage<Exchange, ReplyPart, ReplyPart> =>
  ({ client, namedClient }) =>
    namedClient?.isLimited
      ? {
          next(part) {
            if (part.type === 'data') return part;
            return { ...part, headers: { ...withoutLimits(part.headers), ...client.limitHeaders(namedClient.rates) } };
          },
        }
      : unchanged;

const unchanged: Handlers<ReplyPart, ReplyPart> = { next: (part) => part };

const withoutLimits = (headers: Headers): Headers =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !name.includes('-ratelimit-')));

/** The headers of every SSE answer. They forbid proxies to buffer or rewrite it. */
export const streamHeaders: Headers = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

export const jsonHeaders: Headers = { 'content-type': 'application/json; charset=utf-8' };

/** The upstream's headers about rate limits and waiting times. */
export const limitHeaders = (headers: Headers): Headers => {
  const kept: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined && limitHeader.test(name)) kept[name] = value;
  }
  return kept;
};

const limitHeader = /^(?:retry-after(?:-ms)?|x-should-retry|x-ratelimit-.+|[a-z]+-ratelimit-.+)$/;

/** The headers that show the destination, the rule, failed attempts and losses. */
export const routeHeaders = ({ resolution, context, progress }: Routed): Headers => {
  const { provider, model, scenario } = resolution;
  const route = { ...routeHeader({ provider: provider.name, model, scenario }), ...attemptsHeaders(progress) };
  return context.losses.size === 0 ? route : { ...route, 'x-switchyard-loss': lossHeader(context.losses.list) };
};

/** The header that shows the destination. */
export const routeHeader = ({ provider, model, scenario }: NonNullable<Fault['from']>): Headers => ({
  'x-switchyard-route': `${provider},${model};${scenario}`,
});

const maxLossHeader = 1_024;
const maxLossPath = 128;

/**
 * Lists losses in at most 1 KiB of ASCII: `dropped: top_k, tools[].cache_control*3; approximated: temperature; +12`. Paths that
 * differ only in indices are listed once, with their number. The last number counts the losses left out.
 */
export const lossHeader = (losses: readonly Loss[]): string => {
  let free = maxLossHeader - 'dropped: ; approximated: ; +999999'.length;
  let left = 0;
  const texts = (['dropped', 'approximated'] as const).flatMap((outcome) => {
    const kept: string[] = [];
    for (const paths of groupByPattern(losses.filter((loss) => loss.outcome === outcome))) {
      const text = lossText(paths);
      free -= text.length + 2;
      if (free < 0) left += paths.size;
      else kept.push(text);
    }
    return kept.length > 0 ? [`${outcome}: ${kept.join(', ')}`] : [];
  });
  return [...texts, ...(left > 0 ? [`+${left}`] : [])].join('; ');
};

/** The paths, grouped by their pattern without indices. */
const groupByPattern = (losses: readonly Loss[]): Iterable<ReadonlySet<string>> => {
  const byPattern = new Map<string, Set<string>>();
  for (const { path } of losses) {
    const pattern = fieldPattern(path);
    const paths = byPattern.get(pattern);
    if (paths) paths.add(path);
    else byPattern.set(pattern, new Set([path]));
  }
  return byPattern.values();
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

/** The header that lists failed attempts in at most 1 KiB: `p,m=503; q,n=429; +2`. Empty if there were none. */
export const attemptsHeaders = ({ failed }: Pick<ReplyProgress, 'failed'>): Headers =>
  failed.length === 0 ? none : { 'x-switchyard-attempts': attemptsHeader(failed) };

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
