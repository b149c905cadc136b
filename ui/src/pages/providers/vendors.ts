import type { LocalServer } from '../../api/config/providers.ts';
import type { Transformer } from '../../api/config/transformers.ts';

/** What a new provider begins with. */
export interface Vendor {
  /** Unique. */
  readonly value: string;
  readonly title: string;
  /** The provider's; empty: that of its host. */
  readonly name: string;
  readonly baseUrl: string;
  /** The environment variable that usually has its key. */
  readonly variable?: string;
  /** Written down, so that another base URL doesn't change it. */
  readonly format?: string;
  /** The models that are taken if its list can't be had. */
  readonly models: readonly string[];
}

/** Known vendors, the model servers that run on the gateway's machine, and any other. */
export const vendorsOf = (transformers: readonly Transformer[], servers: readonly LocalServer[]): readonly Vendor[] => [
  ...servers.map(({ name, title, baseUrl, models }) => ({
    value: baseUrl,
    title: `${title}, running at ${baseUrl}`,
    name,
    baseUrl,
    models: models.map((model) => model.name),
  })),
  ...transformers.flatMap(({ name, firstStart }): readonly Vendor[] =>
    firstStart
      ? [
          {
            value: name,
            title: firstStart.title,
            name,
            baseUrl: firstStart.baseUrl,
            variable: firstStart.variable,
            format: name,
            models: firstStart.models,
          },
        ]
      : [],
  ),
  { value: 'other', title: 'Another service or server', name: '', baseUrl: '', models: [] },
];

/** A name for a provider at a URL: `mistral` of `https://api.mistral.example/v1`; `local` of this machine. */
export const nameOfHost = (url: string): string => {
  if (!URL.canParse(url)) return 'provider';
  const { hostname } = new URL(url);
  if (hostname === 'localhost' || /^[\d.]+$|^\[/.test(hostname)) return 'local';
  const labels = hostname.split('.');
  return labels.at(-2) ?? labels[0] ?? 'provider';
};
