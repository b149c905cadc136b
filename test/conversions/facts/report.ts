import type { ModelPrice, TokenPrices } from '../../../engine/model/models/model-facts.ts';
import type { Format } from '../../../engine/model/transformer.ts';
import type { KeptList } from '../../../engine/routing/catalogue/vendor-lists.ts';

export const dayMs = 86_400_000;

/** What is known of a vendor's models elsewhere. */
interface Sources {
  /** The vendor's own list; absent: it wasn't asked. */
  readonly list?: Pick<KeptList, 'models'> | undefined;
  /** The price of the price package at that time. */
  readonly priceOf: (model: string) => ModelPrice | undefined;
}

/** A fact that another source states differently. */
interface Difference {
  readonly model: string;
  readonly fact: string;
  readonly ours: string;
  readonly theirs: string;
  /** The vendor's list is right; the price package is only a second opinion. */
  readonly source: 'list' | 'prices';
}

/** What a vendor's own list decides. */
const listedFacts = ['context', 'maxInput', 'maxOutput', 'retires'] as const;
const rates = ['input', 'output', 'cacheRead', 'cacheWrite'] as const;

/** Where the facts of a vendor differ from what its list and the price package say at `nowMs`. */
export const differences = ({ facts }: Format, { list, priceOf }: Sources, nowMs: number): readonly Difference[] =>
  (facts?.models ?? []).flatMap((model) => {
    const listed = list?.models.find(({ id }) => id === model.id);
    const priced = priceOf(model.id);
    const own = model.price && priceAt(model.price, nowMs);
    return [
      ...listedFacts.flatMap((fact) => differ(model.id, fact, model[fact], listed?.[fact], 'list')),
      ...rates.flatMap((rate) => differ(model.id, `price.${rate}`, own?.[rate], priced?.[rate], 'prices')),
    ];
  });

const differ = (
  model: string,
  fact: string,
  ours: string | number | undefined,
  theirs: string | number | undefined,
  source: Difference['source'],
): readonly Difference[] =>
  theirs === undefined || ours === theirs
    ? []
    : [{ model, fact, ours: String(ours ?? 'unknown'), theirs: String(theirs), source }];

const priceAt = ({ changes = [], ...price }: ModelPrice, nowMs: number): TokenPrices =>
  changes.findLast(({ from }) => Date.parse(from) <= nowMs) ?? price;

/** Models of the vendor's list of which the package knows nothing. */
export const unknownModels = ({ facts }: Format, { list }: Sources): readonly string[] => {
  const known = new Set(facts?.models.flatMap(({ id, aliases = [] }) => [id, ...aliases]));
  return (list?.models ?? []).map(({ id }) => id).filter((id) => !known.has(id));
};

/** A model's name and the day of its end. */
interface Retiring {
  readonly vendor: string;
  readonly model: string;
  readonly on: string;
}

/** All names that are shut down at `nowMs`, or will be within so many days. */
export const retiring = (formats: Iterable<Format>, nowMs: number, days: number): readonly Retiring[] =>
  [...formats].flatMap(({ name, facts }) =>
    [
      ...(facts?.models ?? []).flatMap(({ id, aliases = [], retires }) =>
        retires === undefined ? [] : [id, ...aliases].map((model) => ({ vendor: name, model, on: retires })),
      ),
      ...(facts?.retired ?? []).flatMap(({ on, names }) => names.map((model) => ({ vendor: name, model, on }))),
    ].filter(({ on }) => Date.parse(on) - nowMs <= days * dayMs),
  );

/** The models of first starts that are shut down at `nowMs`, or will be within so many days. */
export const retiringTemplates = (formats: Iterable<Format>, nowMs: number, days: number): readonly Retiring[] => {
  const all = [...formats];
  return retiring(all, nowMs, days).filter(({ vendor, model }) =>
    all.some(({ name, firstStart }) => name === vendor && firstStart?.models.includes(model)),
  );
};

/** Which of these models a text names, as whole names. */
export const namedIn = (text: string, models: readonly string[]): readonly string[] => {
  const words = new Set(text.match(/[\w./-]+/g)?.flatMap((word) => [word, word.slice(word.indexOf(',') + 1)]));
  return models.filter((model) => words.has(model));
};

/** Writes what the vendor's list says into the source of its facts. */
export const writeFacts = (source: string, found: readonly Difference[], day: string): string =>
  found
    .filter((one) => one.source === 'list')
    .reduce(
      (text, { model, fact, theirs }) => {
        const start = text.indexOf(`\n      id: '${model}',`);
        const end = text.indexOf('\n    },', start);
        if (start < 0 || end < 0) return text;
        const block = text.slice(start, end);
        const value = fact === 'retires' ? `'${theirs}'` : theirs.replace(/\B(?=(?:\d{3})+$)/g, '_');
        const line = `\n      ${fact}: ${value},`;
        const old = new RegExp(`\\n      ${fact}: [^\\n]*`);
        return (
          text.slice(0, start) +
          (old.test(block) ? block.replace(old, line) : block.replace('\n      source:', `${line}\n      source:`)) +
          text.slice(end)
        );
      },
      source.replace(/asOf: '[\d-]+'/, `asOf: '${day}'`),
    );
