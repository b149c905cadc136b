import type { JsonObject } from '../model/json.ts';
import type { ClientProtocol, UpstreamProtocol } from '../model/protocol.ts';
import type { Format, Target } from '../model/transformer.ts';
import { plainRequest } from '../routing/plain-request.ts';
import { resolveRoute } from '../routing/resolve.ts';
import { readSseRecords } from '../sse.ts';
import type { PlacedStage } from './build-stages.ts';
import { callUrl } from './call-url.ts';
import type { FormatChoice } from './choose-format.ts';
import { type Cargo, chain, edge, type GraphEdge, type GraphNode, type Step } from './graph.ts';
import { type EventsHalf, eventsHalf, type RequestHalf, requestHalf } from './halves.ts';
import { decidePassage, type Passage } from './passage.ts';

/** The way of one client protocol's requests to one model, node by node; the pipeline runs the work of these very nodes. */
export interface Graph {
  readonly decodeRequest: GraphNode<'bytes', 'request', ClientProtocol['decodeRequest']>;
  readonly route: GraphNode<'request', 'request', typeof resolveRoute>;
  /** In the order of the request. */
  readonly requestHalves: readonly GraphNode<'request', 'request', RequestHalf>[];
  readonly encodeRequest: GraphNode<'request', 'bytes', UpstreamProtocol['encodeRequest']>;
  readonly callUpstream: GraphNode<'bytes', 'bytes', Format['headers']>;
  readonly readRecords: GraphNode<'bytes', 'records', typeof readSseRecords>;
  readonly decodeStream: GraphNode<'records', 'events', UpstreamProtocol['decodeStream']>;
  readonly decodeReply: GraphNode<'bytes', 'events', UpstreamProtocol['decodeReply']>;
  /** In the order of the answer: the last stage of the list comes first. */
  readonly eventsHalves: readonly GraphNode<'events', 'events', EventsHalf>[];
  readonly encodeStream: GraphNode<'events', 'text', ClientProtocol['encodeStream']>;
  readonly encodeReply: GraphNode<'events', 'text', ClientProtocol['encodeReply']>;
  /** Whether a request may go out as it came. */
  readonly requestPassage: Passage;
  /** Whether an answer may reach the client as it came. */
  readonly replyPassage: Passage;
  /** All nodes, in the order in which they are met. */
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

/** What a graph is built from. */
export interface GraphParts {
  readonly client: ClientProtocol;
  /** The provider's name. */
  readonly provider: string;
  readonly model: string;
  readonly choice: FormatChoice;
  readonly target: Target;
  readonly upstream: UpstreamProtocol;
  readonly stages: readonly PlacedStage[];
}

export const buildGraph = ({ client, provider, model, choice, target, upstream, stages }: GraphParts): Graph => {
  const { format } = choice;
  const requestHalves = stages.flatMap((placed) => {
    const work = requestHalf(placed.stage);
    return work ? [stageNode('stage-request', 'request', placed, work)] : [];
  });
  const eventsHalves = stages.toReversed().flatMap((placed) => {
    const work = eventsHalf(placed.stage, placed.entry.path !== undefined);
    return work ? [stageNode('stage-events', 'events', placed, work)] : [];
  });
  const url = showUrl(callUrl(format, target, model, plainRequest(model)));
  const because = { because: choice.because, entry: choice.entry };
  const steps = {
    decodeRequest: node('decode-request', client.wire, 'bytes', 'request', client.decodeRequest),
    route: node('route', provider, 'request', 'request', resolveRoute),
    encodeRequest: node('encode-request', format.name, 'request', 'bytes', upstream.encodeRequest, because),
    callUpstream: node('call-upstream', provider, 'bytes', 'bytes', format.headers, { url }),
    readRecords: node('read-records', 'sse', 'bytes', 'records', readSseRecords),
    decodeStream: node('decode-stream', format.name, 'records', 'events', upstream.decodeStream),
    decodeReply: node('decode-reply', format.name, 'bytes', 'events', upstream.decodeReply),
    encodeStream: node('encode-stream', client.wire, 'events', 'text', client.encodeStream),
    encodeReply: node('encode-reply', client.wire, 'events', 'text', client.encodeReply),
  } as const;
  const passages = {
    requestPassage: decidePassage(client, upstream, requestHalves),
    replyPassage: decidePassage(client, upstream, eventsHalves),
  };
  const typed = { ...steps, requestHalves, eventsHalves, ...passages };
  return { ...typed, ...join(client, typed) };
};

const node = <In extends Cargo, Out extends Cargo, Work>(
  step: Step,
  name: string,
  takes: In,
  gives: Out,
  work: Work,
  about: JsonObject = {},
): GraphNode<In, Out, Work> => ({ id: step, step, name, takes, gives, work, about });

const stageNode = <C extends Cargo, Work extends RequestHalf | EventsHalf>(
  step: Step,
  cargo: C,
  { stage, entry }: PlacedStage,
  work: Work,
): GraphNode<C, C, Work> => ({
  ...node(step, stage.name, cargo, cargo, work, {
    form: work.form,
    entry: entry.at,
    options: Object.keys(entry.options),
    ...(entry.path !== undefined && { path: entry.path }),
  }),
  id: `${step}:${entry.at}`,
});

/** A base URL may hold credentials. */
const showUrl = ({ origin, pathname }: URL): string => origin + pathname;

const join = (client: ClientProtocol, parts: Omit<Graph, 'nodes' | 'edges'>): Pick<Graph, 'nodes' | 'edges'> => {
  const { requestHalves, eventsHalves, requestPassage, replyPassage } = parts;
  const sender = node('client', client.wire, 'text', 'bytes', undefined);
  const forward = node('forward-request', client.wire, 'bytes', 'bytes', undefined, { but: ['model', 'credentials'] });
  const relay = node('relay-reply', client.wire, 'bytes', 'text', undefined);
  const asItCame = requestPassage.open ? [forward] : [];
  const relayed = replyPassage.open ? [relay] : [];
  const converted = (open: boolean) => (open ? 'converted' : undefined);
  const firstRequest = requestHalves[0] ?? parts.encodeRequest;
  const lastRequest = requestHalves.at(-1) ?? parts.route;
  const firstEvents = eventsHalves[0];
  const lastEvents = eventsHalves.at(-1);
  return {
    nodes: [
      sender,
      parts.decodeRequest,
      parts.route,
      ...requestHalves,
      parts.encodeRequest,
      ...asItCame,
      parts.callUpstream,
      parts.readRecords,
      parts.decodeStream,
      parts.decodeReply,
      ...eventsHalves,
      parts.encodeStream,
      parts.encodeReply,
      ...relayed,
    ],
    edges: [
      edge(sender, parts.decodeRequest),
      edge(parts.decodeRequest, parts.route),
      edge(parts.route, firstRequest, converted(requestPassage.open)),
      ...chain(requestHalves),
      ...(lastRequest === parts.route ? [] : [edge(lastRequest, parts.encodeRequest)]),
      edge(parts.encodeRequest, parts.callUpstream),
      ...asItCame.flatMap((way) => [edge(sender, way, 'as-it-came'), edge(way, parts.callUpstream)]),
      edge(parts.callUpstream, parts.readRecords, 'streamed'),
      edge(parts.readRecords, parts.decodeStream),
      edge(parts.callUpstream, parts.decodeReply, 'whole'),
      ...[parts.decodeStream, parts.decodeReply].flatMap((from) =>
        firstEvents
          ? [edge(from, firstEvents)]
          : [edge(from, parts.encodeStream, 'streamed'), edge(from, parts.encodeReply, 'whole')],
      ),
      ...chain(eventsHalves),
      ...(lastEvents
        ? [edge(lastEvents, parts.encodeStream, 'streamed'), edge(lastEvents, parts.encodeReply, 'whole')]
        : []),
      edge(parts.encodeStream, sender),
      edge(parts.encodeReply, sender),
      ...relayed.flatMap((way) => [edge(parts.callUpstream, way, 'as-it-came'), edge(way, sender)]),
    ],
  };
};
