import { Buffer } from 'node:buffer';
import type { Observable } from 'rxjs';
import type { Config } from '../config/config.ts';
import { type Answered, fill, isWrapped, type Ready, type Reconciled } from '../exchange.ts';
import { BytePieces, type CallBody } from '../model/call-body.ts';
import { awsKeyIn } from '../model/clouds.ts';
import { type Fault, FaultError, fail, quoted, unsupported } from '../model/fault.ts';
import { isJsonObject, type JsonObject, openBrace, parseJson, withinStack, writeJson } from '../model/json/json.ts';
import { applyPatches } from '../model/json/merge-patch.ts';
import type { Range } from '../model/json/outline.ts';
import { minInParts } from '../model/json/read-in-parts.ts';
import { addMember, patchText, replaceMember } from '../model/json/replace-member.ts';
import { writeInParts } from '../model/json/write-in-parts.ts';
import type { Losses } from '../model/loss.ts';
import { adaptToModel, lowerOutput, roomIn } from '../model/models/adapt-to-model.ts';
import type { ModelRequest, Tool } from '../model/request.ts';
import type { Call, Format, Target } from '../model/transformer.ts';
import { isWebPage, pageTitle } from '../model/upstream-error/read-error.ts';
import { RecordCutter } from '../model/wire/sse.ts';
import type { UpstreamSocket } from '../model/wire/upstream-socket.ts';
import type { Relays } from '../observe/listener.ts';
import type { Gateway } from '../routing/gateway.ts';
import { learns, type Taught } from '../routing/taught.ts';
import { unjudged } from '../routing/unjudged.ts';
import { BoundedMap, memoize } from '../runtime/memoize.ts';
import { correctClock, signed } from '../upstream/sign-aws.ts';
import type { CallSocket, UpstreamAnswer } from '../upstream/upstreams.ts';
import { namesModel, upstreamUrl } from '../upstream/url.ts';
import { boundMessage } from './bound-answer.ts';
import { changeCall } from './change-call.ts';
import { clientCredentials } from './client-credentials.ts';
import { renewsKey, withCommandKey } from './command-key.ts';
import { refusesCompaction, requireCompaction } from './compact.ts';
import { decodeInFull, mayRelay, relaysOf } from './decode.ts';
import { isEventStream, readEventStream } from './event-stream.ts';
import { hideCredentials } from './hide-credentials.ts';
import { hopHeaders } from './hops.ts';
import { withLessons } from './learn.ts';
import { clientText } from './read-client-body.ts';
import { leaveOutFields } from './route.ts';
import { openAnswer } from './rx/open-answer.ts';
import { type SequenceStep, sequence } from './rx/sequence.ts';
import { collectBytes, stages } from './rx/stages.ts';
import type { StageGateway } from './stage-parts.ts';
import { upstreamIdIn } from './upstream-id.ts';
import { watchGrammar } from './watch-grammar.ts';
import { limitHeaders } from './write-reply.ts';

/** Encodes the upstream call: URL, headers, and the converted body or the client's own body with the model replaced. */
export const encodeRequest = (
  gateway: Pick<Gateway, 'hop' | 'commandKeys' | 'taught' | 'health'> & StageGateway,
): SequenceStep<Reconciled, Ready> => {
  const { config, hop, commandKeys, taught, health } = gateway;
  const withClientCredentials = clientCredentials(config);
  return withCommandKey(commandKeys, (routed) => {
    const { plan, resolution, incoming, request, apiKey, addressAt, listener, trace } = routed;
    const relays = mayRelay(routed);
    const target = plan.targets[addressAt] ?? plan.target;
    const call: Call = {
      apiKey,
      baseUrl: target.baseUrl,
      options: target.options,
      clientHeader: (name) => incoming.header(name),
      request,
      wire: plan.upstream.wire,
      isRelayed: relays.request,
    };
    const headers = {
      'content-type': 'application/json',
      accept: request.stream ? 'text/event-stream' : 'application/json',
      'accept-encoding': 'identity',
      'user-agent': 'junctor',
      ...plan.graph.callUpstream.work(call),
      ...hopHeaders(routed, hop),
      ...trace?.callHeaders(),
    };
    const sent = resolution.provider.credentials === 'client' ? withClientCredentials(headers, routed) : headers;
    const url = callUrl(plan.format, target, resolution.model, request);
    const body = withinStack('invalid-request', tooComplex, () =>
      bodyOf(routed, relays, plan.format.bodyPatch?.(call)),
    );
    const made = { url, headers: sent, body };
    const staged = plan.graph.callStages.length > 0 ? changeCall(routed, made, gateway) : made;
    const known = learns(config, resolution.provider) ? taught.of(resolution) : none;
    const unsigned = known.length > 0 ? { ...staged, ...withLessons(routed, staged, taught) } : staged;
    const changed = plan.maySign ? withSignature(unsigned, target, apiKey, health.nowMs()) : unsigned;
    const ready = fill(routed, { relays, call: changed, unjudged: unjudged(routed.context.request, plan) });
    listener.encoded?.(ready);
    return ready;
  });
};

const none: readonly Taught[] = [];

/** The call with a signature, if the provider's key is one for signatures. */
const withSignature = (
  call: Ready['call'],
  { options: { region } }: Target,
  apiKey: string,
  nowMs: number,
): Ready['call'] => {
  const key = awsKeyIn(apiKey);
  if (!key) return call;
  return { ...call, headers: signed(call, key, nowMs, typeof region === 'string' ? region : undefined) };
};

const tooComplex = 'The request is nested too deeply, or has too many parts, for its conversion.';

/** The body; `own`: the patch for the provider's host, if it has one. */
const bodyOf = (routed: Reconciled, relays: Relays, own: JsonObject | undefined): CallBody => {
  const { outline, resolution, plan, context, client, clientBody, withoutAttribution } = routed;
  const request = leaveOutFields(routed.request, routed);
  // The upstream's body is about as long as the client's.
  const write = routed.body.length < minInParts ? writeJson : writeInParts;
  if (!relays.request) {
    const losses = context.losses.at(plan.format.name);
    const { maxOutput = Number.POSITIVE_INFINITY } = plan.target;
    const room = plan.total === undefined ? maxOutput : Math.min(maxOutput, roomIn(plan.total, context.inputEstimate));
    const limited = (request.maxTokens ?? 0) > room ? lowerOutput(request, room, losses, room < maxOutput) : request;
    const asked = plan.lacks.length > 0 ? adaptToModel(limited, plan.lacks, losses) : limited;
    const body = plan.graph.encodeRequest.work(asked, {
      names: context.names,
      losses,
      replyIsRelayed: relays.reply,
      client: client.wire,
    });
    // A dry run leaves out the stages that are around the call, which may serve them.
    if (routed.progress.wrapped || !isWrapped(routed)) refuseWithoutTools(asked, losses);
    const patches = own ? [own, ...plan.patches] : plan.patches;
    const patched = patches.length > 0 ? applyPatches({ ...body }, patches) : body;
    return write(patched);
  }
  const added = usageMembers(routed);
  const isSet = added && Object.keys(added).some((name) => Object.hasOwn(clientBody, name));
  // With attribution, there is no outline: the body is decoded in full.
  const withoutOwn = withoutAttribution ? client.attribution?.membersWithout(clientBody) : undefined;
  if (plan.patches.length > 0 || isSet) {
    const body = parseJson(clientText(routed));
    const patches = [{ ...withoutOwn, model: resolution.model, ...own }, ...(added ? [added] : []), ...plan.patches];
    return write(applyPatches(isJsonObject(body) ? body : {}, patches));
  }
  if (own) {
    return patchText(clientText(routed), { ...withoutOwn, model: resolution.model, ...own, ...added });
  }
  const model = JSON.stringify(resolution.model);
  if (withoutAttribution) return replaceMembers(clientText(routed), { ...withoutOwn, model: resolution.model });
  const first = added ? `${JSON.stringify(added).slice(1, -1)},` : '';
  if (outline) return replaceBytes(outline.body, outline.model, model, first);
  const text = clientText(routed);
  const named = 'model' in clientBody;
  const replaced = named ? replaceMember(text, 'model', model) : addMember(text, 'model', model);
  if (first !== '') return insertMembers(replaced, first);
  // The text lacks the body's byte order mark, which vendors refuse.
  return replaced === text && routed.body[0] !== byteOrderMark ? routed.body : replaced;
};

const replaceMembers = (text: string, members: JsonObject): string =>
  Object.entries(members).reduce(
    (replaced, [name, value]) => (value === undefined ? replaced : replaceMember(replaced, name, writeJson(value))),
    text,
  );

/** Throws `unsupported` if the upstream gets none of the tools that the client declared: the answer would be made up. */
const refuseWithoutTools = ({ tools, toolChoice }: ModelRequest, losses: Losses): void => {
  if (tools.length === 0 || toolChoice?.type === 'none') return;
  const dropped = new Set(losses.list.flatMap(({ path, outcome }) => (outcome === 'dropped' ? [path] : [])));
  const [first] = tools;
  if (!tools.every(({ at }) => at !== undefined && dropped.has(at))) return;
  const at = first?.at ?? 'tools';
  const named = tools.slice(0, maxNamed).map(toolName).join(', ');
  unsupported(
    at,
    `${at}: this provider has none of the request's tools: ${named}${tools.length > maxNamed ? ' …' : ''}.`,
  );
};

const maxNamed = 8;

const toolName = (tool: Tool): string =>
  (tool.type === 'web-search' ? 'web_search' : tool.type === 'hosted' ? (tool.name ?? tool.kind) : tool.name).slice(
    0,
    64,
  );

/** The members that ask for the usage of a relayed stream. Its client gets it only if it asks itself. */
const usageMembers = ({ plan, request }: Reconciled): JsonObject | undefined =>
  request.stream && request.streamUsage !== true ? plan.upstream.usageMembers?.(request) : undefined;

/** An object's text with members before its own. */
const insertMembers = (text: string, members: string): string => {
  const at = text.indexOf('{') + 1;
  return text.slice(0, at) + members + text.slice(at);
};

/** The first byte of a byte order mark in UTF-8. */
const byteOrderMark = 0xef;

/** An object's bytes with the text in place of this range, and members before its own; the same bytes if all is there already. */
const replaceBytes = (bytes: Uint8Array, [from, to]: Range, text: string, members: string): CallBody => {
  const value = Buffer.from(text);
  if (members !== '') {
    const at = bytes.indexOf(openBrace) + 1;
    const own = [bytes.subarray(at, from), value, bytes.subarray(to)];
    return new BytePieces([bytes.subarray(0, at), Buffer.from(members), ...own]);
  }
  return value.equals(bytes.subarray(from, to))
    ? bytes
    : new BytePieces([bytes.subarray(0, from), value, bytes.subarray(to)]);
};

/** The URL for a request to `model`. Cached, so many requests share one object. */
const callUrl = (format: Format, target: Target, model: string, request: ModelRequest): URL => {
  const path = format.pathFor?.(target, request.model === model ? request : { ...request, model }) ?? format.path;
  const wanted = namesModel(path) ? `${path} ${model}` : path;
  return knownUrls(target).remember(wanted, () => upstreamUrl(target.baseUrl, path, model));
};

/** Bounded, since clients choose the model names. */
const knownUrls = memoize((_: Target) => new BoundedMap<string, URL>(100));

/** The part of an upstream's error body that is read. */
const maxErrorBytes = 1 << 20;

/**
 * Makes the upstream call, and passes what the upstream accepts to `then`. Throws the upstream's fault for a failure status, or the fault
 * that prevented an answer.
 */
export const callUpstream = <T>(gateway: Gateway, then: SequenceStep<Answered, T>): SequenceStep<Ready, T> => {
  const { upstreams, config } = gateway;
  const accepting = { config, missing: gateway.missing, watch: watchGrammar(config) };
  return (ready) => {
    const { backpressure, listener } = ready;
    const { url, headers, body } = ready.call;
    const { timeouts } = ready.resolution.provider;
    const socket = ready.plan.socket && socketFor(ready, ready.plan.socket, config);
    listener.called?.();
    ready.progress.upstreamId = undefined;
    return upstreams.call({ url, headers, body, backpressure, timeouts, socket }).pipe(
      sequence((answer) => {
        ready.progress.upstreamId = upstreamIdIn(answer.headers, headers);
        return isSuccess(answer) ? open(ready, answer, accepting) : refuse(ready, answer, gateway);
      }, then),
    );
  };
};

/** Present if this request may go over a WebSocket. */
const socketFor = (ready: Ready, protocol: UpstreamSocket, { limits }: Config): CallSocket | undefined => {
  if (!ready.request.stream || ready.request.compaction) return undefined;
  return { protocol, conversation: conversationOf(ready), incomplete: boundMessage(ready, limits) };
};

const conversationOf = ({ request, client, incoming }: Ready): string => {
  for (const name of client.sessionHeaders ?? []) {
    const id = incoming.header(name);
    if (id) return id;
  }
  return client.sessionIn?.(request) ?? '';
};

/** A redirect isn't followed: it could send the key and the conversation to any host. */
const isRedirect = ({ status }: UpstreamAnswer): boolean => status >= 300 && status < 400;

const isSuccess = ({ status }: UpstreamAnswer): boolean => status >= 200 && status < 300;

/** Options for accepting answers. */
interface Accepting {
  readonly config: Config;
  readonly missing: Gateway['missing'];
  /** Looks at their bytes; absent: nothing does. */
  readonly watch: ReturnType<typeof watchGrammar>;
}

const readEventStreams = stages(readEventStream);

/** Accepts the answer once its first bytes show what it is. */
const open = (ready: Ready, answer: UpstreamAnswer, accepting: Accepting): Observable<Answered> => {
  const { status, headers } = answer;
  const type = headers['content-type'] ?? '';
  if (/\bhtml\b/i.test(type)) {
    fail('upstream-garbled', `The upstream answered with a web page (status ${status}) instead of a model's reply.`);
  }
  const { streaming } = ready.progress;
  const framed = isEventStream(type);
  const body = framed ? answer.body.pipe(readEventStreams(ready)) : (answer.records ?? answer.body);
  const labelled = framed || /\bevent-stream\b/i.test(type) || (streaming && !/\bjson\b/i.test(type));
  return openAnswer(body, labelled, (opened) => accept(ready, { ...answer, ...opened }, accepting));
};

const accept = (
  ready: Ready,
  answer: Omit<Answered['answer'], 'cutter'>,
  { config, missing, watch }: Accepting,
): Answered => {
  const { status, headers, streamed, drain } = answer;
  const relays = relaysOf(ready, streamed);
  ready.listener.answered?.(relays);
  if (!relays.reply) decodeInFull(ready, config);
  const { request } = ready;
  const sent = watch ? answer.body.pipe(watch(ready, streamed)) : answer.body;
  const body =
    request.compaction && !request.compaction.byPath ? sent.pipe(requireCompaction(ready, streamed, missing)) : sent;
  const cutter = streamed ? new RecordCutter() : undefined;
  return fill(ready, { relays, answer: { status, headers, streamed, cutter, body, drain } });
};

/**
 * Whether a web page stands in for the upstream's refusal: that of a firewall or proxy before it, or of another server. Statuses
 * about retries and sizes mean the same from anybody.
 */
const isBlocked = ({ status, headers }: UpstreamAnswer, body: string): boolean =>
  status < 500 && !plainStatuses.has(status) && isWebPage(headers['content-type'] ?? '', body);

const plainStatuses: ReadonlySet<number> = new Set([408, 413, 429]);

/** The request hasn't reached the upstream; the same call would meet the same page. */
const blocked = (status: number, page: string): Fault => {
  const title = pageTitle(page);
  const what = title === '' ? 'a web page' : `a web page titled ${quoted(title)}`;
  const message = `The upstream can't be reached: ${what} answered in its place (status ${status}).`;
  return { kind: 'upstream-unreachable', message, retryOtherUpstream: true };
};

/** A request that passed through is the client's own, which decides itself what to leave out. */
const mayLeaveOutReasoning = ({ plan, relays, withoutReasoning }: Ready, fault: Fault): boolean =>
  !relays.request && !withoutReasoning && (plan.upstream.refusesReasoning?.(fault) ?? false);

const retryAsOf = (
  ready: Ready,
  fault: Fault,
  { status, headers: { date } }: UpstreamAnswer,
  { commandKeys, health, missing }: Gateway,
): Fault['retryAs'] => {
  const { url, headers } = ready.call;
  if (fault.kind === 'upstream-auth' && headers['x-amz-date'] !== undefined && correctClock(url, date, health.nowMs()))
    return 'new-key';
  if (fault.kind === 'upstream-auth' && renewsKey(ready, commandKeys)) return 'new-key';
  if (mayLeaveOutReasoning(ready, fault)) return 'without-reasoning';
  return refusesCompaction(ready, fault, status, missing) ? 'without-compaction' : undefined;
};

/** Reads the upstream's error body, in any format, and throws it as a fault. */
const refuse = (ready: Ready, answer: UpstreamAnswer, gateway: Gateway): Observable<never> => {
  if (isRedirect(answer)) {
    fail(
      'upstream-garbled',
      `The upstream answered with a redirect (status ${answer.status}), which is not followed: its baseUrl must name the final address.`,
    );
  }
  return answer.body.pipe(
    collectBytes(
      (body): never => {
        ready.listener.refused?.({ isWhole: true, status: answer.status, headers: answer.headers, body });
        const text = new TextDecoder().decode(body);
        if (isBlocked(answer, text)) throw new FaultError(blocked(answer.status, text));
        const fault = ready.plan.upstream.decodeFault(answer.status, answer.headers, text);
        // A waiting time in the body is more exact than one in a header.
        const headers = { ...limitHeaders(answer.headers), ...fault.headers };
        const retryAs = retryAsOf(ready, fault, answer, gateway);
        // The key itself isn't at fault if its command prints another.
        const isOurs = retryAs === 'new-key' && { countsAgainstHealth: false };
        throw new FaultError(
          hideCredentials({ ...fault, headers, ...isOurs, ...(retryAs && { retryAs }) }, ready.call.headers),
        );
      },
      { maxBytes: maxErrorBytes },
    ),
  );
};
