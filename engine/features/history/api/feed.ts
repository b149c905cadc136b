import { performance } from 'node:perf_hooks';
import { finalize } from 'rxjs';
import Type from 'typebox';
import { adminEndpoint, gated, ServiceFault } from '../../../../admin/endpoint.ts';
import { logSize } from '../../../../admin/logs.ts';
import type { OperationDoc, RouteOperation } from '../../../http/documented-route.ts';
import type { ReplyPart } from '../../../http/endpoint.ts';
import { fail } from '../../../model/fault.ts';
import type { Logs } from '../../../observe/log/logs.ts';
import type { Gate } from '../../../runtime/backpressure.ts';
import type { FeedRequests } from '../../record/schema.ts';
import { followMs } from '../shared-history.ts';
import type { Feed, Feeds } from './feeds.ts';
import { activityNow, type RequestParts, readMinutes } from './requests.ts';

/** Dependencies of the feed. */
interface FeedParts extends Pick<RequestParts, 'requests' | 'startedAtMs' | 'workers'> {
  readonly home: string;
  readonly logs: Logs;
  readonly feeds: Feeds;
}

/** After so long without an event, a comment shows that the stream is alive, in milliseconds. */
const keepAliveMs = 10_000;

const topics = ['requests', 'activity', 'log'] as const;

type Topic = (typeof topics)[number];

/** `GET /api/feed`: what is new, as a stream of events. */
export const feedOperation = (parts: FeedParts): RouteOperation => ({
  endpoint: adminEndpoint(({ query, backpressure }) => {
    const params = new URLSearchParams(query);
    const looks = readTopics(params).map((topic) => lookAt(topic, params, parts));
    const feed = parts.feeds.add();
    return gated(backpressure, (gate) => eventsOf(looks, feed, gate)).pipe(finalize(() => parts.feeds.remove(feed)));
  }),
  doc: feedDoc,
});

const readTopics = (params: URLSearchParams): readonly Topic[] => {
  const names = new Set((params.get('topics') ?? 'requests,activity').split(','));
  const found = topics.filter((topic) => names.has(topic));
  return found.length === names.size
    ? found
    : fail('invalid-request', `topics must be of ${topics.join(', ')}, separated by commas.`, { param: 'topics' });
};

/** Returns the text of the events since the last look; all of the state at the first. */
type Look = () => Promise<string>;

const lookAt = (topic: Topic, params: URLSearchParams, parts: FeedParts): Look => {
  switch (topic) {
    case 'requests':
      return requestLook(parts);
    case 'activity':
      return activityLook(parts, readMinutes(params));
    case 'log':
      return changesOf('log', () => logSize(parts.home, parts.logs, params));
    default:
      return topic satisfies never;
  }
};

const requestLook = ({ requests }: FeedParts): Look => {
  const follow = requests.follow();
  let whole = true;
  let state = '';
  return async () => {
    const [capture, list] = await Promise.all([requests.capture(), follow()]);
    const before = state;
    state = JSON.stringify(capture);
    const event: FeedRequests = { whole, capture, ...list };
    const isNew = whole || list.requests.length > 0 || state !== before;
    whole = false;
    return isNew ? eventText('requests', event) : '';
  };
};

/** The time alone is no change, but requests in flight get older. The traffic changes less often, and is larger. */
const activityLook = (parts: FeedParts, minutes: number): Look => {
  let last = '';
  let lastTraffic = '';
  return async () => {
    const { now, traffic, ...activity } = await activityNow(parts, minutes, followMs);
    const [text, trafficText] = [JSON.stringify(activity), JSON.stringify(traffic ?? null)];
    const isNew = text !== last || activity.inFlightCount > 0;
    const hasTraffic = traffic !== undefined && trafficText !== lastTraffic;
    [last, lastTraffic] = [text, trafficText];
    return (
      (isNew ? eventText('activity', { now, ...activity }) : '') +
      (hasTraffic ? eventText('traffic', { now, ...activity, traffic }) : '')
    );
  };
};

const changesOf = (event: string, read: () => Promise<object>): Look => {
  let last = '';
  return async () => {
    const text = eventText(event, await read());
    const isNew = text !== last;
    last = text;
    return isNew ? text : '';
  };
};

const eventText = (event: string, data: object): string => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

/** Looks only while the client reads: a slow one gets the state of then, not all that was before. */
async function* eventsOf(looks: readonly Look[], feed: Feed, gate: Gate): AsyncGenerator<ReplyPart> {
  yield {
    type: 'head',
    status: 200,
    headers: {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    },
  };
  let lastMs = performance.now();
  while (!feed.isOver) {
    const texts = await Promise.all(looks.map((look) => look()));
    const nowMs = performance.now();
    const data = texts.join('') || (nowMs - lastMs >= keepAliveMs ? ': keep-alive\n\n' : '');
    if (data !== '') {
      lastMs = nowMs;
      yield { type: 'data', data };
    }
    await feed.next();
    await gate.opened;
  }
}

const feedDoc: OperationDoc = {
  summary: 'What is new, as a stream of events',
  group: 'management',
  query: {
    topics: Type.String({ default: 'requests,activity', description: `Of ${topics.join(', ')}, separated by commas.` }),
    minutes: Type.Integer({ minimum: 0, maximum: 60, default: 0, description: 'Of traffic by time, with `activity`.' }),
    file: Type.String({ description: 'The log file of `log`; default: app.log.' }),
  },
  answers: {
    200: {
      description:
        'Events: first the whole state, then what changes. `requests`, `activity`, `traffic` and `log` have JSON.',
      content: { 'text/event-stream': Type.String() },
    },
  },
  fault: ServiceFault,
};
