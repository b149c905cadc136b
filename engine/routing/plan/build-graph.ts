import type { Provider, RouterModule } from '../../config/config.ts';
import type { ModelCallExtras } from '../../config/sections/call-extras.ts';
import type { Lack } from '../../model/models/model-facts.ts';
import type { ClientProtocol, UpstreamProtocol } from '../../model/protocol.ts';
import { probeRequest } from '../../model/request.ts';
import type { Format, RowUse, Target } from '../../model/transformer.ts';
import { readSseRecords } from '../../model/wire/sse.ts';
import { upstreamUrl } from '../../upstream/url.ts';
import { resolveRoute } from '../resolve.ts';
import { conditionText } from '../rules/stage-conditions.ts';
import {
  type AroundStage,
  aroundStageOf,
  type CallStage,
  type ConfiguredStage,
  callStageOf,
  type EventStage,
  eventStageOf,
  type RequestStage,
  requestStageOf,
} from './build-stages.ts';
import type { FormatChoice } from './choose-format.ts';
import {
  connect,
  connectAll,
  type GraphEdge,
  type GraphNode,
  type NodeDetails,
  type NodeKind,
  type Payload,
} from './graph.ts';

/** The graph of a plan. The pipeline runs the `work` of these nodes. */
export interface Graph {
  readonly decodeRequest: GraphNode<'bytes', 'request', ClientProtocol['decodeRequest']>;
  readonly route: GraphNode<'request', 'request', typeof resolveRoute>;
  /** The stages in list order, in parts: each but the last ends with a stage that is around all later parts. */
  readonly layers: readonly Layer[];
  readonly encodeRequest: GraphNode<'request', 'bytes', UpstreamProtocol['encodeRequest']>;
  /** In list order. */
  readonly callStages: readonly StageNode<'bytes', CallStage>[];
  readonly callUpstream: GraphNode<'bytes', 'bytes', Format['headers']>;
  readonly readRecords: GraphNode<'bytes', 'records', typeof readSseRecords>;
  readonly decodeStream: GraphNode<'records', 'events', UpstreamProtocol['decodeStream']>;
  readonly decodeReply: GraphNode<'bytes', 'events', UpstreamProtocol['decodeReply']>;
  readonly encodeStream: GraphNode<'events', 'text', ClientProtocol['encodeStream']>;
  readonly encodeReply: GraphNode<'events', 'text', ClientProtocol['encodeReply']>;
  /** Whether requests may be relayed. */
  readonly requestRelay: RelayDecision;
  /** Whether answers may be relayed. */
  readonly replyRelay: RelayDecision;
  /** All nodes, in the order in which a request and its answer pass them. */
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

/** A node of a stage, and the position of its entry in the configuration's list. */
type StageNode<C extends Payload, Work> = GraphNode<C, C, Work> & { readonly position: number };

/** Stages up to one that is around the rest. */
export interface Layer {
  /** In list order. */
  readonly requestStages: readonly StageNode<'request', RequestStage>[];
  /** In reverse list order. */
  readonly eventStages: readonly StageNode<'events', EventStage>[];
  /** Absent in the last one. */
  readonly around?: StageNode<'request', AroundStage>;
}

/** All request stages of a graph, in list order. */
export const requestStagesOf = ({ layers }: Pick<Graph, 'layers'>): Layer['requestStages'] => {
  const [first, second] = layers;
  return first && !second ? first.requestStages : layers.flatMap(({ requestStages }) => requestStages);
};

/** All event stages of a graph, in reverse list order. */
export const eventStagesOf = ({ layers }: Pick<Graph, 'layers'>): Layer['eventStages'] =>
  layers.toReversed().flatMap(({ eventStages }) => eventStages);

/** The layers that a call passes which a stage at this position makes: those of the stages after it. */
export const layersAfter = (layers: readonly Layer[], position: number): readonly Layer[] => {
  if (position < 0) return layers;
  const isAfter = (node: { readonly position: number }): boolean => node.position > position;
  return layers.flatMap((layer) =>
    layer.around && !isAfter(layer.around)
      ? []
      : [
          {
            ...layer,
            requestStages: layer.requestStages.filter(isAfter),
            eventStages: layer.eventStages.filter(isAfter),
          },
        ],
  );
};

/** The inputs of a graph. */
interface GraphParts {
  readonly client: ClientProtocol;
  readonly provider: Provider;
  readonly model: string;
  readonly choice: FormatChoice;
  readonly target: Target;
  readonly upstream: UpstreamProtocol;
  readonly rows: readonly RowUse[];
  readonly stages: readonly ConfiguredStage[];
  readonly extras: ModelCallExtras;
  /** Capabilities that the model is known to lack. */
  readonly lacks: readonly Lack[];
  readonly router: RouterModule | undefined;
}

export const buildGraph = ({
  client,
  provider,
  model,
  choice,
  target,
  upstream,
  rows,
  stages,
  extras,
  lacks,
  router,
}: GraphParts): Graph => {
  const { format } = choice;
  const layers = layersOf(stages);
  const callStages = stages.flatMap((placed) => {
    const work = callStageOf(placed);
    return work ? [stageNode('stage-call', 'bytes', placed, work)] : [];
  });
  const url = showUrl(upstreamUrl(target.baseUrl, format.pathFor?.(target, probeRequest(model)) ?? format.path, model));
  const ownCredentials = provider.credentials === 'client';
  const callOptions = [
    ...(ownCredentials ? ['credentials'] : []),
    ...((provider.otherBaseUrls ?? []).length > 0 ? ['otherBaseUrls'] : []),
    ...(socketOf(provider, upstream) ? ['webSocket'] : []),
    ...namesOf(extras),
  ];
  const encodeDetails = {
    because: choice.because,
    ...(choice.entry !== undefined && { entry: choice.entry }),
    ...(rows.length > 0 && { rows: rows.map(({ kind, name, because }) => `${kind} ${name}: ${because}`) }),
    ...(lacks.length > 0 && { options: lacks.map((lack) => `lacks.${lack}`) }),
  };
  const steps = {
    decodeRequest: node('decode-request', client.wire, 'bytes', 'request', client.decodeRequest),
    route: node('route', provider.name, 'request', 'request', resolveRoute, router && { path: router.path }),
    encodeRequest: node('encode-request', format.name, 'request', 'bytes', upstream.encodeRequest, encodeDetails),
    callUpstream: node('call-upstream', provider.name, 'bytes', 'bytes', withHeaders(format.headers, extras), {
      url,
      ...(callOptions.length > 0 && { options: callOptions }),
    }),
    readRecords: node('read-records', 'sse', 'bytes', 'records', readSseRecords),
    decodeStream: node('decode-stream', format.name, 'records', 'events', upstream.decodeStream),
    decodeReply: node('decode-reply', format.name, 'bytes', 'events', upstream.decodeReply),
    encodeStream: node('encode-stream', client.wire, 'events', 'text', client.encodeStream),
    encodeReply: node('encode-reply', client.wire, 'events', 'text', client.encodeReply),
  } as const;
  const arounds = layers.flatMap(({ around }) => around ?? []);
  const decisions = {
    requestRelay: decideRelay(client, upstream, [...requestStagesOf({ layers }), ...arounds]),
    replyRelay: decideRelay(client, upstream, [...eventStagesOf({ layers }), ...arounds]),
  };
  const own = format.bodyPatch?.({
    apiKey: '',
    baseUrl: target.baseUrl,
    options: target.options,
    clientHeader: () => undefined,
    request: probeRequest(model),
    isRelayed: true,
  });
  const patched = patchedBy(own ? [own, ...extras.patches] : extras.patches);
  const replaced = [...new Set(['model', ...(ownCredentials ? [] : ['credentials']), ...patched])];
  const typed = { ...steps, layers, callStages, ...decisions };
  return { ...typed, ...join(client, typed, replaced) };
};

/** The stages in layers. */
const layersOf = (stages: readonly ConfiguredStage[]): readonly Layer[] => {
  const layers: Layer[] = [];
  let requestStages: Layer['requestStages'][number][] = [];
  let eventStages: Layer['eventStages'][number][] = [];
  for (const placed of stages) {
    const request = requestStageOf(placed);
    const events = eventStageOf(placed);
    const around = aroundStageOf(placed);
    if (request) requestStages.push(stageNode('stage-request', 'request', placed, request));
    if (events) eventStages.unshift(stageNode('stage-events', 'events', placed, events));
    if (!around) continue;
    layers.push({ requestStages, eventStages, around: stageNode('stage-around', 'request', placed, around) });
    requestStages = [];
    eventStages = [];
  }
  return [...layers, { requestStages, eventStages }];
};

/** The socket protocol of streamed calls; `undefined`: they use HTTP. */
export const socketOf = ({ webSocket }: Provider, { socket }: UpstreamProtocol): UpstreamProtocol['socket'] =>
  webSocket ? socket : undefined;

/** The format's headers, and those that are configured, which win. */
const withHeaders = (headers: Format['headers'], extras: ModelCallExtras): Format['headers'] =>
  Object.keys(extras.headers).length > 0 ? (call) => ({ ...headers(call), ...extras.headers }) : headers;

/** The names of the set members, without their values, which may be secret. */
const namesOf = ({ headers, query, patches }: ModelCallExtras): readonly string[] => [
  ...Object.keys(headers).map((name) => `headers.${name}`),
  ...Object.keys(query).map((name) => `query.${name}`),
  ...patchedBy(patches).map((name) => `body.${name}`),
];

const patchedBy = (patches: ModelCallExtras['patches']): readonly string[] => [
  ...new Set(patches.flatMap((patch) => Object.keys(patch))),
];

const node = <In extends Payload, Out extends Payload, Work>(
  step: NodeKind,
  name: string,
  takes: In,
  gives: Out,
  work: Work,
  about: NodeDetails = {},
): GraphNode<In, Out, Work> => ({ id: step, step, name, takes, gives, work, about });

const stageNode = <C extends Payload, Work extends RequestStage | CallStage | EventStage | AroundStage>(
  step: NodeKind,
  payload: C,
  { stage, entry, position, when }: ConfiguredStage,
  work: Work,
): StageNode<C, Work> => ({
  ...node(step, stage.name, payload, payload, work, {
    form: work.form,
    entry: entry.at,
    options: Object.keys(entry.options),
    ...(entry.path !== undefined && { path: entry.path }),
    ...(entry.ask && { asks: entry.ask }),
    ...(entry.timeoutMs !== undefined && { timeoutMs: entry.timeoutMs }),
    ...(when && { when: conditionText(when) }),
    ...(entry.onError === 'skip' && { onError: entry.onError }),
  }),
  id: `${step}:${entry.at}`,
  position,
});

/** Without credentials and query. */
const showUrl = ({ origin, pathname }: URL): string => origin + pathname;

const join = (
  client: ClientProtocol,
  parts: Omit<Graph, 'nodes' | 'edges'>,
  replaced: readonly string[],
): Pick<Graph, 'nodes' | 'edges'> => {
  const { layers, callStages, requestRelay, replyRelay } = parts;
  const clientNode = node('client', client.wire, 'text', 'bytes', undefined);
  const relayRequest = node('forward-request', client.wire, 'bytes', 'bytes', undefined, {
    but: replaced,
  });
  const relayReply = node('relay-reply', client.wire, 'bytes', 'text', undefined);
  const relayedRequest = requestRelay.open ? [relayRequest] : [];
  const relayedReply = replyRelay.open ? [relayReply] : [];
  const converted = (open: boolean) => (open ? 'converted' : undefined);
  const call = [parts.encodeRequest, ...callStages, parts.callUpstream, parts.readRecords, parts.decodeStream];
  const { requestStages, eventStages } = stageRows(
    layers,
    [...call, parts.decodeReply].map(({ id }) => id),
  );
  const firstRequest = requestStages[0] ?? parts.encodeRequest;
  const lastRequest = requestStages.at(-1) ?? parts.route;
  const firstEvents = eventStages[0];
  const lastEvents = eventStages.at(-1);
  const firstCall = callStages[0] ?? parts.callUpstream;
  const lastCall = callStages.at(-1);
  return {
    nodes: [
      clientNode,
      parts.decodeRequest,
      parts.route,
      ...requestStages,
      parts.encodeRequest,
      ...relayedRequest,
      ...callStages,
      parts.callUpstream,
      parts.readRecords,
      parts.decodeStream,
      parts.decodeReply,
      ...eventStages,
      parts.encodeStream,
      parts.encodeReply,
      ...relayedReply,
    ],
    edges: [
      connect(clientNode, parts.decodeRequest),
      connect(parts.decodeRequest, parts.route),
      connect(parts.route, firstRequest, converted(requestRelay.open)),
      ...connectAll(requestStages),
      ...(lastRequest === parts.route ? [] : [connect(lastRequest, parts.encodeRequest)]),
      connect(parts.encodeRequest, firstCall),
      ...relayedRequest.flatMap((pass) => [connect(clientNode, pass, 'as-it-came'), connect(pass, firstCall)]),
      ...connectAll(callStages),
      ...(lastCall ? [connect(lastCall, parts.callUpstream)] : []),
      connect(parts.callUpstream, parts.readRecords, 'streamed'),
      connect(parts.readRecords, parts.decodeStream),
      connect(parts.callUpstream, parts.decodeReply, 'whole'),
      ...[parts.decodeStream, parts.decodeReply].flatMap((from) =>
        firstEvents
          ? [connect(from, firstEvents)]
          : [connect(from, parts.encodeStream, 'streamed'), connect(from, parts.encodeReply, 'whole')],
      ),
      ...connectAll(eventStages),
      ...(lastEvents
        ? [connect(lastEvents, parts.encodeStream, 'streamed'), connect(lastEvents, parts.encodeReply, 'whole')]
        : []),
      connect(parts.encodeStream, clientNode),
      connect(parts.encodeReply, clientNode),
      ...relayedReply.flatMap((pass) => [connect(parts.callUpstream, pass, 'as-it-came'), connect(pass, clientNode)]),
    ],
  };
};

/**
 * The nodes of all stages, on the way to the provider and back. A stage that is around the rest stands in both, and names the nodes
 * between; `call` has those of the call itself.
 */
const stageRows = (layers: readonly Layer[], call: readonly string[]) => {
  const requestStages: GraphNode<'request', 'request'>[] = [];
  const eventStages: GraphNode<'events', 'events'>[] = [];
  for (const layer of layers.toReversed()) {
    const { around } = layer;
    if (around) {
      const within = [...requestStages.map(({ id }) => id), ...call, ...eventStages.map(({ id }) => id)];
      requestStages.unshift({ ...around, about: { ...around.about, wraps: within } });
      eventStages.push({
        ...node('stage-answer', around.name, 'events', 'events', undefined, around.about),
        id: around.id.replace('stage-around', 'stage-answer'),
      });
    }
    requestStages.unshift(...layer.requestStages);
    eventStages.push(...layer.eventStages);
  }
  return { requestStages, eventStages };
};

/** Whether one direction may be relayed, and why, worded for users. */
interface RelayDecision {
  readonly open: boolean;
  readonly why: string;
}

/** Decides one direction: both sides must speak the same format, and no stage may handle that direction. */
const decideRelay = (
  client: ClientProtocol,
  upstream: UpstreamProtocol,
  stages: readonly { readonly name: string }[],
): RelayDecision => {
  if (client.wire !== upstream.wire) {
    return { open: false, why: `the client speaks ${client.wire}, the upstream ${upstream.wire}` };
  }
  if (stages.length > 0) return { open: false, why: `${stages.map(({ name }) => name).join(', ')} must see it` };
  return { open: true, why: `both sides speak ${client.wire}, and no stage must see it` };
};
