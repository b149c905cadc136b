import type { ObservedRoute } from '../../observer.ts';
import type { RequestFollower, RequestRecord } from '../../request-record.ts';
import { Distribution, Tally } from '../record/series.ts';

/** Bucket bounds for complete answers, in seconds. */
const answerSeconds = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160, 320, 640];

const firstByteSeconds = [0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256];

const overheadSeconds = [0.000_5, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1.024];

const holdSeconds = [0.25, 0.5, 1, 2, 4, 8, 16];

/** All that is counted of the service's requests. */
export class Counts {
  readonly requests = new Tally();
  readonly upstreamErrors = new Tally();
  readonly tokens = new Tally();
  readonly retries = new Tally();
  readonly fallbacks = new Tally();
  readonly aborts = new Tally();
  readonly reloads = new Tally();
  readonly keyRefusals = new Tally();
  readonly durations = new Distribution(answerSeconds);
  readonly firstBytes = new Distribution(firstByteSeconds);
  readonly overheads = new Distribution(overheadSeconds);
  readonly holds = new Distribution(holdSeconds);

  /** Counts requests as they go on and end. */
  readonly follow: RequestFollower = {
    counted: ({ provider = none, namedClient = '' }, { input, cacheRead, cacheWrite, output, reasoning }) => {
      const add = (type: string, tokens: number | undefined): void => {
        if (tokens !== undefined && tokens > 0) this.tokens.add([provider, type, namedClient], tokens);
      };
      add('input', input);
      add('cache_read', cacheRead);
      add('cache_write', cacheWrite);
      add('output', output);
      add('reasoning', reasoning);
    },
    faulted: ({ provider = none }, { kind }) => {
      if (kind.startsWith('upstream-')) this.upstreamErrors.add([provider, kind]);
    },
    retried: ({ provider = none }, reason) => this.retries.add([provider, reason]),
    fellBack: ({ route }, to) =>
      this.fallbacks.add([`${route?.provider.name ?? none},${labelOf(route)}`, `${to.provider.name},${labelOf(to)}`]),
    ended: (record) => this.#ended(record),
  };

  #ended(record: EndedTimes): void {
    const { protocol, provider = none, route, status, namedClient = '', firstByteMs, overheadMs, durationMs } = record;
    const where = [protocol, provider];
    // Without upstream data the reply is a fault of the gateway.
    if (firstByteMs !== undefined && overheadMs !== undefined) {
      this.firstBytes.observe(where, firstByteMs / 1000);
      this.overheads.observe(where, overheadMs / 1000);
    }
    if (status === clientGone) this.aborts.add([protocol]);
    this.requests.add([...where, labelOf(route), route?.scenario ?? none, String(status), namedClient]);
    this.durations.observe(where, durationMs / 1000);
  }
}

/** Label value while the provider, model or scenario is unknown. */
const none = 'none';

/** Label value for all models that the configuration doesn't list: clients choose those, so their number is unbounded. */
const otherModel = 'other';

const clientGone = 499;

const labelOf = (route: Omit<ObservedRoute, 'scenario'> | undefined): string => {
  if (!route) return none;
  return route.provider.models.includes(route.model) ? route.model : otherModel;
};

/** What is counted of a request at its end. */
type EndedTimes = Pick<
  RequestRecord,
  'protocol' | 'provider' | 'route' | 'status' | 'namedClient' | 'firstByteMs' | 'overheadMs' | 'durationMs'
>;
