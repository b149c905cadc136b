import { type Protocol, protocols, protocolTitles, shortProtocolTitles } from '../../api/protocols.ts';
import type { Activity } from '../../api/requests/activity.ts';
import type { RequestSummary } from '../../api/requests/requests.ts';
import { crossOver, type Drawing, type Station, type Track } from './drawing/drawing-parts.ts';
import { type Destination, nameOf, type Traffic, toneOf, trafficOn, waysTo } from './lines.ts';
import { overviewAddress } from './overview-address.ts';
import { durationLabels, rateLabel, timesOf, troubleLabels, weightOf } from './traffic-labels.ts';

/** What the overview shows. */
interface OverviewOptions {
  readonly destinations: readonly Destination[];
  readonly activity: Activity | undefined;
  readonly requests: readonly RequestSummary[];
  /** Only the lines of this protocol. */
  readonly protocol: Protocol | undefined;
  /** The available width, in pixels. */
  readonly width: number;
}

const clientSize = { width: 172, height: 48 };
const switchSize = { width: 92, height: 48 };
const endSize = { width: 236, height: 48 };
const rowHeight = 62;
const poolSize = { width: 124, height: 44 };
/** The width from which there is room for pools between the router and the destinations. */
const poolsFrom = 900;

/** All lines: client protocols, the router, destinations; from left to right, or from top to bottom on narrow pages. */
export const layOutOverview = (options: OverviewOptions): Drawing =>
  options.width < 640 ? downwards(options) : acrosswards(options);

const look = ({ active, perSecond }: Traffic, fault?: string): Track['look'] => {
  if (fault !== undefined) return 'closed';
  return active > 0 || perSecond > 0 ? 'live' : 'idle';
};

const acrosswards = ({ destinations, activity, requests, protocol, width }: OverviewOptions): Drawing => {
  const rows = Math.max(protocols.length * 1.15, destinations.length);
  const height = rows * rowHeight;
  const middle = height / 2;
  const switchX = Math.round(width * 0.27);
  const endX = width - endSize.width;
  const point = { x: switchX, y: middle };
  const clients = protocols.map((name, index) => {
    const traffic = trafficOn(activity, requests, { protocol: name });
    const y = middle + (index - (protocols.length - 1) / 2) * 70;
    const dim = protocol !== undefined && protocol !== name;
    const start = { x: clientSize.width, y };
    const station: Station = {
      ...clientStation(name, protocol, traffic),
      ...clientSize,
      x: 0,
      y: y - clientSize.height / 2,
      dim,
    };
    const track: Track = {
      id: `from:${name}`,
      from: name,
      to: 'switch',
      points: crossOver(start, point, (start.x + switchX) / 2),
      look: look(traffic),
      ...weightOf(traffic),
      dim,
      labels: [rateLabel(traffic)],
      // Keeps clear of the diagonal.
      labelsAt: { x: start.x + 30, y: y > middle ? y + 13 : y - 13 },
    };
    return { station, track };
  });
  const exit = { x: switchX + switchSize.width, y: middle };
  const heightOf = (index: number): number => (index + 0.5) * (height / destinations.length);
  const pools = width < poolsFrom ? [] : poolsOf(destinations, heightOf, exit.x + 44);
  const poolTracks = pools.flatMap(({ name, station, members }) => {
    const y = station.y + poolSize.height / 2;
    const looks = members.map((index) => {
      const to = destinations[index];
      return to ? look(trafficOn(activity, requests, { protocol, to }), to.fault) : 'idle';
    });
    const start = { x: station.x + poolSize.width, y };
    const track = (
      id: string,
      from: string,
      to: string,
      points: Track['points'],
      tone: Track['look'],
      weight: Pick<Track, 'width' | 'tone'> = {},
    ): Track => ({ id, from, to, points, look: tone, ...weight });
    return [
      track(
        `pool:${name}`,
        'switch',
        station.id,
        crossOver(exit, { x: station.x, y }, exit.x + 22),
        looks.includes('live') ? 'live' : 'idle',
      ),
      ...members.map((index, at) => {
        const to = destinations[index];
        const id = to ? nameOf(to) : '';
        const points = crossOver(start, { x: endX, y: heightOf(index) }, start.x + 30);
        const weight = to && weightOf(trafficOn(activity, requests, { protocol, to }));
        return track(`${station.id}:${id}`, station.id, id, points, looks[at] ?? 'idle', weight);
      }),
    ];
  });
  const ends = destinations.map((destination, index) => {
    const traffic = trafficOn(activity, requests, { protocol, to: destination });
    const y = heightOf(index);
    const isPooled = pools.length > 0 && isReachedByPools(destination);
    const left = isPooled ? exit.x + 44 + poolSize.width + 60 : exit.x + 110;
    const track: Track = {
      id: `to:${nameOf(destination)}`,
      from: 'switch',
      to: nameOf(destination),
      // The tracks of its pools lead there; this one only carries the labels.
      points: isPooled ? [{ x: endX, y }] : crossOver(exit, { x: endX, y }, exit.x + (pools.length > 0 ? 12 : 60)),
      look: look(traffic, destination.fault),
      ...weightOf(traffic),
      labels: [rateLabel(traffic), ...durationLabels(traffic), ...troubleLabels(traffic)],
      labelsAt: { x: (left + endX) / 2, y: y - 13 },
    };
    const station: Station = {
      ...endStation(destination, protocol, traffic),
      ...endSize,
      x: endX,
      y: y - endSize.height / 2,
    };
    return { station, track };
  });
  return {
    width,
    height,
    stations: [
      ...clients.map(({ station }) => station),
      { ...switchStation, ...switchSize, x: switchX, y: middle - switchSize.height / 2 },
      ...pools.map(({ station }) => station),
      ...ends.map(({ station }) => station),
    ],
    tracks: [...clients.map(({ track }) => track), ...poolTracks, ...ends.map(({ track }) => track)],
  };
};

/** A pool in the drawing. */
interface DrawnPool {
  readonly name: string;
  readonly station: Station;
  /** Indices of its members among the destinations. */
  readonly members: readonly number[];
}

/** The pools of the destinations, each near the height of its members, beside the tracks that lead to destinations directly. */
const poolsOf = (
  destinations: readonly Destination[],
  heightOf: (index: number) => number,
  x: number,
): readonly DrawnPool[] => {
  const found = new Map<string, { readonly strategy: string; readonly members: number[] }>();
  for (const [index, { pools }] of destinations.entries()) {
    for (const { name, strategy } of pools) {
      const pool = found.get(name) ?? { strategy, members: [] };
      pool.members.push(index);
      found.set(name, pool);
    }
  }
  const between = destinations.slice(1).map((_, index) => (heightOf(index) + heightOf(index + 1)) / 2);
  const besides = destinations.flatMap((to, index) => (isReachedByPools(to) ? [heightOf(index)] : []));
  let free: readonly number[] = [...between, ...besides];
  return [...found].map(([name, { strategy, members }]) => {
    const wanted = members.reduce((sum, index) => sum + heightOf(index), 0) / members.length;
    const [centre = wanted] = free.toSorted((one, other) => Math.abs(one - wanted) - Math.abs(other - wanted));
    free = free.filter((height) => Math.abs(height - centre) > poolSize.height);
    const y = centre - poolSize.height / 2;
    const station: Station = {
      id: `pool ${name}`,
      kind: 'switch',
      title: name,
      about: `pool, ${strategy}`,
      ...poolSize,
      x,
      y,
    };
    return { name, station, members };
  });
};

/** Whether all routes to a destination lead through its pools. */
const isReachedByPools = ({ routes, pools }: Destination): boolean =>
  pools.length > 0 && routes.every((route) => pools.some((pool) => pool.routes.includes(route)));

const downwards = ({ destinations, activity, requests, protocol, width }: OverviewOptions): Drawing => {
  const gap = 8;
  const clientWidth = (width - gap * (protocols.length - 1)) / protocols.length;
  const switchY = 100;
  const spine = 14;
  const inset = 36;
  const clients = protocols.map((name, index) => {
    const traffic = trafficOn(activity, requests, { protocol: name });
    const x = index * (clientWidth + gap);
    const dim = protocol !== undefined && protocol !== name;
    const from = { x: x + clientWidth / 2, y: 64 };
    const station: Station = {
      ...clientStation(name, protocol, traffic, true),
      width: clientWidth,
      height: 64,
      x,
      y: 0,
      dim,
      labels: [rateLabel(traffic)],
    };
    const track: Track = {
      id: `from:${name}`,
      from: name,
      to: 'switch',
      points: [from, { x: from.x, y: 82 }, { x: width / 2, y: 82 }, { x: width / 2, y: switchY }],
      look: look(traffic),
      ...weightOf(traffic),
      dim,
    };
    return { station, track };
  });
  const ends = destinations.map((destination, index) => {
    const traffic = trafficOn(activity, requests, { protocol, to: destination });
    const y = switchY + 70 + index * 84;
    const track: Track = {
      id: `to:${nameOf(destination)}`,
      from: 'switch',
      to: nameOf(destination),
      points: [
        { x: width / 2 - 46, y: switchY + 22 },
        { x: spine, y: switchY + 22 },
        { x: spine, y: y + 36 },
        { x: inset, y: y + 36 },
      ],
      look: look(traffic, destination.fault),
      ...weightOf(traffic),
    };
    const station: Station = {
      ...endStation(destination, protocol, traffic),
      width: width - inset,
      height: 72,
      x: inset,
      y,
      labels: [rateLabel(traffic), ...durationLabels(traffic), ...troubleLabels(traffic)],
    };
    return { station, track };
  });
  return {
    width,
    height: switchY + 70 + destinations.length * 84,
    stations: [
      ...clients.map(({ station }) => station),
      { ...switchStation, ...switchSize, height: 44, x: width / 2 - 46, y: switchY },
      ...ends.map(({ station }) => station),
    ],
    // Live tracks are drawn above idle ones.
    tracks: [...clients, ...ends]
      .map(({ track }) => track)
      .toSorted((one, other) => Number(one.look === 'live') - Number(other.look === 'live')),
  };
};

const clientStation = (name: Protocol, picked: Protocol | undefined, { active }: Traffic, isNarrow = false) => ({
  id: name,
  kind: 'client' as const,
  title: (isNarrow ? shortProtocolTitles : protocolTitles)[name],
  about: active > 0 ? `${active} in flight` : isNarrow ? 'idle' : 'client protocol',
  pulse: active > 0,
  picked: name === picked,
  to: overviewAddress({ protocol: name === picked ? undefined : name }),
});

const switchStation = { id: 'switch', kind: 'switch' as const, title: 'Route', about: 'by the rules' };

const endStation = (destination: Destination, protocol: Protocol | undefined, traffic: Traffic) => ({
  id: nameOf(destination),
  kind: 'upstream' as const,
  title: destination.model,
  about: `${destination.provider} · ${waysTo(destination)}`,
  tone: toneOf(traffic, destination.fault),
  times: timesOf(traffic),
  pulse: traffic.active > 0,
  to: overviewAddress({ protocol, line: nameOf(destination) }),
});
