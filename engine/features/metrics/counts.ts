import { LRUCache } from 'lru-cache';
import { clientGone } from '../../model/status.ts';
import type { LabelValues } from '../../observe/metric.ts';
import type { RecordListener, RequestRecord } from '../../request-record.ts';
import { Distribution, type Observed, Tally } from '../record/series.ts';

/** Bucket bounds for complete answers, in seconds. */
const answerSeconds = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160, 320, 640];

const firstByteSeconds = [0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256];

const overheadSeconds = [0.000_5, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1.024];

const stallSeconds = [0.25, 0.5, 1, 2, 4, 8, 16];

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
  readonly stalls = new Distribution(stallSeconds);

  /** The series of requests that are counted together. */
  readonly #known = new LRUCache<string, RequestSeries>({ max: maxKnown });

  /** Counts requests as they go on and end. */
  readonly listener: RecordListener = {
    counted: (usage, record) => {
      const { tokens } = this.#seriesOf(record);
      for (const [kind, type] of tokenTypes) {
        const count = usage[kind];
        if (count === undefined || count <= 0) continue;
        const tally = tokens[kind] ?? this.tokens.at([record.provider ?? none, type, record.namedClient ?? '']);
        tokens[kind] = tally;
        tally.count += count;
      }
    },
    faulted: ({ kind }, { provider = none }) => {
      if (kind.startsWith('upstream-')) this.upstreamErrors.add([provider, kind]);
    },
    retried: (reason, { provider = none }) => this.retries.add([provider, reason]),
    fellBack: (to, record) => {
      const model = to.provider.models.includes(to.model) ? to.model : otherModel;
      this.fallbacks.add([`${record.provider ?? none},${labelOf(record)}`, `${to.provider.name},${model}`]);
    },
    finished: (_, record) => this.#ended(record),
  };

  #ended(record: RequestRecord): void {
    const { protocol, status, firstByteMs, overheadMs, durationMs } = record;
    const series = this.#seriesOf(record);
    // Without upstream data the reply is a fault of the gateway.
    if (firstByteMs !== undefined && overheadMs !== undefined) {
      const where = [protocol, record.provider ?? none];
      series.firstBytes ??= this.firstBytes.at(where);
      series.overheads ??= this.overheads.at(where);
      this.firstBytes.add(series.firstBytes, firstByteMs / 1000);
      this.overheads.add(series.overheads, overheadMs / 1000);
    }
    if (status === clientGone) this.aborts.add([protocol]);
    const ended = series.ended.get(status) ?? this.requests.at(labelsOf(record));
    series.ended.set(status, ended);
    ended.count += 1;
    this.durations.add(series.durations, durationMs / 1000);
  }

  #seriesOf(record: RequestRecord): RequestSeries {
    const key = record.series;
    const known = this.#known.get(key);
    // A new configuration may list a model that no other did.
    if (known?.isListed === record.isListed) return known;
    const { protocol, provider = none, isListed } = record;
    const durations = this.durations.at([protocol, provider]);
    const series: RequestSeries = { isListed, durations, ended: new Map(), tokens: {} };
    this.#known.set(key, series);
    return series;
  }
}

/** Counters for requests of one kind, looked up once. */
interface RequestSeries {
  /** Whether the model was listed when it was found. */
  readonly isListed: boolean;
  readonly durations: Observed;
  firstBytes?: Observed;
  overheads?: Observed;
  /** By status. */
  readonly ended: Map<number, { count: number }>;
  readonly tokens: { [Kind in TokenKind]?: { count: number } };
}

const maxKnown = 1_000;

type TokenKind = 'input' | 'cacheRead' | 'cacheWrite' | 'output' | 'reasoning';

/** The label values of the kinds of tokens. */
const tokenTypes: readonly (readonly [kind: TokenKind, type: string])[] = [
  ['input', 'input'],
  ['cacheRead', 'cache_read'],
  ['cacheWrite', 'cache_write'],
  ['output', 'output'],
  ['reasoning', 'reasoning'],
];

/** Label value while the provider, model or scenario is unknown. */
const none = 'none';

/** Label value for all models that the configuration doesn't list: clients choose those, so their number is unbounded. */
const otherModel = 'other';

const labelOf = ({ model, isListed }: Pick<RequestRecord, 'model' | 'isListed'>): string => {
  if (model === undefined) return none;
  return isListed ? model : otherModel;
};

const labelsOf = (record: RequestRecord): LabelValues => {
  const { protocol, provider = none, scenario = none, status, namedClient = '' } = record;
  return [protocol, provider, labelOf(record), scenario, String(status), namedClient];
};
