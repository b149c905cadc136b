import Type, { type Static } from 'typebox';
import { reader } from '../model/schema.ts';

const Across = Type.Union([Type.Literal('sum'), Type.Literal('max'), Type.Literal('min')]);

/** A metric with its series, as processes exchange it. */
export const Family = Type.Object({
  /** With the prefix. */
  name: Type.String({ maxLength: 200 }),
  help: Type.String({ maxLength: 1_000 }),
  type: Type.Union([Type.Literal('counter'), Type.Literal('gauge'), Type.Literal('histogram')]),
  /** What several processes' values come to. */
  across: Across,
  /** Each line's text before its value, and the value. */
  series: Type.Array(Type.Tuple([Type.String({ maxLength: 10_000 }), Type.Number()]), { maxItems: 100_000 }),
});
export type Family = Static<typeof Family>;

/** Asks a process to tell what has changed, before the metrics of all are read. */
export const familiesQuestion = reader(Type.Object({ kind: Type.Literal('metrics') }));

/** The metric of requests without a valid key, without the prefix. */
export const keyRefusalsName = 'key_refusals_total';

/** The sum of a metric's series; `name` is without the prefix. */
export const familySum = (families: readonly Family[], name: string): number =>
  families
    .filter((family) => family.name.endsWith(`_${name}`))
    .flatMap(({ series }) => series)
    .reduce((sum, [, value]) => sum + value, 0);

/** Renders metrics in Prometheus's text format. Source: Prometheus, "Exposition formats", version 0.0.4. */
export const renderFamilies = (families: readonly Family[]): string => `${families.map(render).join('\n\n')}\n`;

const render = ({ name, help, type, series }: Family): string =>
  [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...series.map(([text, value]) => `${text} ${value}`)].join('\n');

/** Finds what has changed since it was told last. Gauges are always whole, since their series may vanish. */
export class FamilyChanges {
  readonly #told = new Map<string, number>();

  since(families: readonly Family[]): readonly Family[] {
    return families.flatMap((family) => {
      // JSON can't express others, such as the mean of no observations.
      const finite = family.series.filter(([, value]) => Number.isFinite(value));
      if (family.type === 'gauge') return [{ ...family, series: finite }];
      const series = finite.filter(([text, value]) => this.#told.get(text) !== value);
      for (const [text, value] of series) this.#told.set(text, value);
      return series.length > 0 || family.series.length === 0 ? [{ ...family, series }] : [];
    });
  }
}

/** Lines kept of processes that have ended, per metric: each process has its own bound, but there may be many of them. */
const maxEnded = 50_000;

interface Merged {
  readonly head: Omit<Family, 'series'>;
  readonly ended: Map<string, number>;
  readonly living: Map<number, Map<string, number>>;
}

/** The metrics of several processes. Counters include those that have ended, so that they never fall. */
export class FamilySums {
  readonly #families = new Map<string, Merged>();

  /** Takes what a process tells: the counters that changed, and all gauges. */
  take(member: number, families: readonly Family[]): void {
    for (const { series, ...head } of families) {
      const known = this.#families.get(head.name) ?? { head, ended: new Map(), living: new Map() };
      this.#families.set(head.name, known);
      const before = head.type === 'gauge' ? undefined : known.living.get(member);
      const values = before ?? new Map<string, number>();
      for (const [text, value] of series) values.set(text, value);
      known.living.set(member, values);
    }
  }

  /** Keeps the last counters of a process that has ended. */
  leave(member: number): void {
    for (const { head, ended, living } of this.#families.values()) {
      const last = living.get(member);
      living.delete(member);
      if (!last || head.type === 'gauge') continue;
      for (const [text, value] of last) {
        const before = ended.get(text);
        if (before !== undefined || ended.size < maxEnded) ended.set(text, (before ?? 0) + value);
      }
    }
  }

  all(): readonly Family[] {
    return [...this.#families.values()].map(({ head, ended, living }) => {
      const join = joins[head.across];
      const sums = new Map<string, number>();
      for (const values of [ended, ...living.values()]) {
        for (const [text, value] of values) {
          const before = sums.get(text);
          sums.set(text, before === undefined ? value : join(before, value));
        }
      }
      return { ...head, series: [...sums] };
    });
  }
}

const joins: Readonly<Record<Family['across'], (one: number, other: number) => number>> = {
  sum: (one, other) => one + other,
  max: Math.max,
  min: Math.min,
};
