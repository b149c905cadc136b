import type { Graph, GraphNode, Step } from '../../../api/config/graph.ts';
import { protocolTitles } from '../../../api/protocols.ts';
import { type Traffic, toneOf } from '../lines.ts';
import { durationLabels, firstByteLabels, rateLabel, troubleLabels } from '../traffic-labels.ts';
import type { Drawing, Label, Point, Station, Track } from './drawing-parts.ts';

/** A request step, a response step, or both: they are drawn side by side. */
interface Layer {
  readonly out?: GraphNode;
  readonly back?: GraphNode;
}

interface Frame {
  readonly graph: Graph;
  readonly traffic: Traffic;
  readonly layers: readonly Layer[];
  readonly width: number;
}

const stepHeight = 50;
/** The height of a box with labels. */
const endHeight = 66;
const gap = 26;
/** The least width of a box; narrower ones cut names too short. */
const leastWidth = 92;

/** One line in full: the request path above, the provider at the end, the response path below. On narrow pages: left and right. */
export const layOutLine = (graph: Graph, traffic: Traffic, width: number): Drawing => {
  const layers = layersOf(graph);
  const frame = { graph, traffic, layers, width };
  return (layers.length + 2) * (leastWidth + gap) - gap <= width ? acrosswards(frame) : downwards(frame);
};

const layersOf = ({ nodes }: Graph): readonly Layer[] => {
  const find = (step: Step) => nodes.find((node) => node.step === step);
  const halves = (step: Step) => nodes.filter((node) => node.step === step);
  const outs = halves('stage-request');
  const backs = halves('stage-events');
  const stages = [
    ...outs.map((out) =>
      layer(
        out,
        backs.find((back) => back.entry === out.entry && back.name === out.name),
      ),
    ),
    // Response stages come in reverse; this restores the configured order.
    ...backs
      .toReversed()
      .filter((back) => !outs.some((out) => out.entry === back.entry && out.name === back.name))
      .map((back) => layer(undefined, back)),
  ];
  return [
    layer(find('decode-request'), find('encode-stream')),
    layer(find('route'), undefined),
    ...stages.toSorted((one, other) => entryOf(one) - entryOf(other)),
    layer(find('encode-request'), find('decode-stream')),
    ...halves('stage-call').map((out) => layer(out, undefined)),
  ];
};

const layer = (out: GraphNode | undefined, back: GraphNode | undefined): Layer => ({
  ...(out && { out }),
  ...(back && { back }),
});

/** The stage's index in the configuration: `transformers[2]`. */
const entryOf = ({ out, back }: Layer): number => Number(/\d+/.exec((out ?? back)?.entry ?? '')?.[0] ?? 0);

const acrosswards = ({ graph, traffic, layers, width }: Frame): Drawing => {
  const columns = layers.length + 2;
  const size = Math.min(136, (width - gap * (columns - 1)) / columns);
  const step = (width - size) / (columns - 1);
  const hasAside = graph.passThrough.request.open || graph.passThrough.reply.open;
  const top = hasAside ? 64 : 34;
  const bottom = top + 118;
  const middle = (top + bottom + stepHeight) / 2;
  const place = (column: number, y: number) => ({ x: column * step, y, width: size, height: stepHeight });
  const client = { ...clientStation(graph, traffic), ...place(0, middle - stepHeight / 2) };
  const upstream = { ...upstreamStation(graph, traffic), ...place(columns - 1, middle - stepHeight / 2) };
  const outs = layers.flatMap(({ out }, index) => (out ? [{ ...stepStation(out), ...place(index + 1, top) }] : []));
  const backs = layers
    .flatMap(({ back }, index) => (back ? [{ ...stepStation(back), ...place(index + 1, bottom) }] : []))
    .toReversed();
  const left = (box: Station): Point => ({ x: box.x, y: box.y + stepHeight / 2 });
  const right = (box: Station): Point => ({ x: box.x + box.width, y: box.y + stepHeight / 2 });
  const over = (box: Station, y: number): Point => ({ x: box.x + box.width / 2, y });
  const corner = (box: Station, row: number): readonly Point[] => [
    over(box, box.y + (row < box.y ? 0 : stepHeight)),
    over(box, row),
  ];
  const outRow = top + stepHeight / 2;
  const backRow = bottom + stepHeight / 2;
  const look = lookOf(graph, traffic);
  return {
    width,
    height: bottom + stepHeight + (hasAside ? 64 : 34),
    stations: [client, ...outs, upstream, ...backs],
    tracks: [
      ...join([client, ...outs, upstream], look, (from, to) => {
        if (from === client) return [...corner(client, outRow), left(to)];
        return to === upstream ? [right(from), ...corner(upstream, outRow).toReversed()] : [right(from), left(to)];
      }),
      ...join([upstream, ...backs, client], look, (from, to) => {
        if (from === upstream) return [...corner(upstream, backRow), right(to)];
        return to === client ? [left(from), ...corner(client, backRow).toReversed()] : [left(from), right(to)];
      }),
      ...(graph.passThrough.request.open
        ? [asideTrack('request', client, upstream, [...corner(client, 12), ...corner(upstream, 12).toReversed()])]
        : []),
      ...(graph.passThrough.reply.open
        ? [
            asideTrack('reply', upstream, client, [
              ...corner(upstream, bottom + stepHeight + 52),
              ...corner(client, bottom + stepHeight + 52).toReversed(),
            ]),
          ]
        : []),
    ].map((track) =>
      withLabels(track, traffic, {
        [`client>${outs[0]?.id}`]: { x: (size / 2 + step) / 2, y: outRow - 13 },
        [`${outs.at(-1)?.id}>upstream`]: { x: width - (size / 2 + step) / 2, y: outRow - 13 },
        [`${backs.at(-1)?.id}>client`]: { x: size / 2 + 100, y: bottom + stepHeight + 14 },
      }),
    ),
  };
};

const downwards = ({ graph, traffic, layers, width: room }: Frame): Drawing => {
  const width = Math.min(room, 560);
  const margin = graph.passThrough.request.open || graph.passThrough.reply.open ? 20 : 0;
  const size = (width - 2 * margin - 16) / 2;
  const rowStep = stepHeight + gap;
  const place = (row: number, side: 0 | 1) => ({
    x: margin + side * (size + 16),
    y: endHeight + gap + row * rowStep,
    width: size,
    height: stepHeight,
  });
  const whole = { x: margin, width: width - 2 * margin, height: endHeight };
  const client = {
    ...clientStation(graph, traffic),
    ...whole,
    y: 0,
    labels: [rateLabel(traffic), ...durationLabels(traffic)],
  };
  const upstream = {
    ...upstreamStation(graph, traffic),
    ...whole,
    y: endHeight + gap + layers.length * rowStep,
    labels: troubleLabels(traffic),
  };
  const outs = layers.flatMap(({ out }, index) => (out ? [{ ...stepStation(out), ...place(index, 0) }] : []));
  const backs = layers
    .flatMap(({ back }, index) => (back ? [{ ...stepStation(back), ...place(index, 1) }] : []))
    .toReversed();
  const down = margin + size / 2;
  const up = down + size + 16;
  const look = lookOf(graph, traffic);
  const level =
    (x: number) =>
    (from: Station, to: Station): readonly Point[] =>
      from.y < to.y
        ? [
            { x, y: from.y + from.height },
            { x, y: to.y },
          ]
        : [
            { x, y: from.y },
            { x, y: to.y + to.height },
          ];
  const beside = (x: number, edge: number): readonly Point[] => [
    { x: edge, y: endHeight / 2 },
    { x, y: endHeight / 2 },
    { x, y: upstream.y + endHeight / 2 },
    { x: edge, y: upstream.y + endHeight / 2 },
  ];
  return {
    width,
    height: upstream.y + endHeight,
    stations: [client, ...outs, upstream, ...backs],
    tracks: [
      ...join([client, ...outs, upstream], look, level(down)),
      ...join([upstream, ...backs, client], look, level(up)),
      ...(graph.passThrough.request.open ? [asideTrack('request', client, upstream, beside(4, margin))] : []),
      ...(graph.passThrough.reply.open
        ? [asideTrack('reply', upstream, client, beside(width - 4, width - margin))]
        : []),
    ],
  };
};

const join = (
  way: readonly Station[],
  look: Track['look'],
  points: (from: Station, to: Station) => readonly Point[],
): readonly Track[] =>
  way.slice(1).flatMap((to, index) => {
    const from = way[index];
    return from ? [{ id: `${from.id}>${to.id}`, from: from.id, to: to.id, points: points(from, to), look }] : [];
  });

const asideTrack = (what: 'request' | 'reply', from: Station, to: Station, points: readonly Point[]): Track => ({
  id: `aside:${what}`,
  from: from.id,
  to: to.id,
  points,
  look: 'aside',
  labels: [{ text: 'pass-through', about: `the ${what} may pass through unchanged` }],
  // The middle of the longest segment; narrow drawings have no room.
  ...(points[1] &&
    points[2] &&
    points[1].y === points[2].y && { labelsAt: { x: (points[1].x + points[2].x) / 2, y: points[1].y } }),
});

const withLabels = (track: Track, traffic: Traffic, places: Readonly<Record<string, Point>>): Track => {
  const labelsAt = places[track.id];
  if (!labelsAt) return track;
  return { ...track, labelsAt, labels: labelsOf(track, traffic) };
};

const labelsOf = ({ from, to }: Track, traffic: Traffic): readonly Label[] => {
  if (from === 'client') return [rateLabel(traffic)];
  return to === 'upstream' ? firstByteLabels(traffic) : [...durationLabels(traffic), ...troubleLabels(traffic)];
};

const lookOf = ({ fault }: Graph, { active, perSecond }: Traffic): Track['look'] => {
  if (fault !== null) return 'closed';
  return active > 0 || perSecond > 0 ? 'live' : 'idle';
};

const clientStation = ({ client }: Graph, { active }: Traffic) => ({
  id: 'client',
  kind: 'client' as const,
  title: protocolTitles[client],
  about: active > 0 ? `${active} in flight` : 'the client',
  pulse: active > 0,
});

const upstreamStation = ({ provider, model, fault }: Graph, traffic: Traffic) => ({
  id: 'upstream',
  kind: 'upstream' as const,
  title: provider,
  about: model,
  tone: toneOf(traffic, fault ?? undefined),
  pulse: traffic.active > 0,
});

const stepStation = ({ id, step, name }: GraphNode) => ({
  id,
  kind: step.startsWith('stage') ? ('stage' as const) : step === 'route' ? ('switch' as const) : ('step' as const),
  title: step === 'route' ? 'Route' : name,
  about: step === 'route' ? `to ${name}` : abouts[step],
});

const abouts: Readonly<Record<Step, string>> = {
  client: 'client',
  'decode-request': 'decode request',
  route: 'pick destination',
  'stage-request': 'stage',
  'encode-request': 'encode request',
  'forward-request': 'pass through',
  'stage-call': 'change call',
  'call-upstream': 'call',
  'read-records': 'parse records',
  'decode-stream': 'decode response',
  'decode-reply': 'decode response',
  'stage-events': 'stage',
  'encode-stream': 'encode response',
  'encode-reply': 'encode response',
  'relay-reply': 'pass through',
};
