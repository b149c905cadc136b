import { type Static, Type } from 'junctor/transformer';

export const Options = Type.Object({
  model: Type.Optional(
    Type.String({
      title: 'A model that searches',
      description:
        'Searches by a model whose vendor has a web search: `provider,model`; `ask` of the entry names it, too. Either this or `service`.',
      minLength: 1,
      examples: ['work,searches'],
    }),
  ),
  service: Type.Optional(
    Type.Enum(['searxng', 'brave'], {
      title: 'A search service',
      description:
        'Searches by a service: `searxng`, an own SearXNG that answers in JSON; `brave`, the Brave Search API.',
      examples: ['searxng'],
    }),
  ),
  url: Type.Optional(
    Type.String({
      title: 'Address of the service',
      description: 'Where the service is. `searxng` needs it; `brave` has its own.',
      pattern: '^https?://',
      examples: ['http://127.0.0.1:8888'],
    }),
  ),
  apiKey: Type.Optional(
    Type.String({
      title: 'Key of the service',
      description: 'The key of the service, such as `$BRAVE_API_KEY`. `brave` needs it.',
      examples: ['$BRAVE_API_KEY'],
    }),
  ),
  maxSearches: Type.Optional(
    Type.Integer({
      title: 'Searches per answer',
      description: "The most searches for one answer. The client's own limit may be lower.",
      default: 5,
      minimum: 1,
      maximum: 6,
    }),
  ),
  always: Type.Optional(
    Type.Boolean({
      title: 'Also where the vendor searches',
      description:
        'Searches also for models whose vendor has a web search, such as those of a server that is only like the vendor.',
      default: false,
    }),
  ),
  timeoutMs: Type.Optional(
    Type.Integer({
      title: 'Time limit of a search',
      description:
        'How long a search may take, in milliseconds. Default: 10 seconds for a service, a minute for a model.',
      minimum: 1,
      maximum: 600_000,
    }),
  ),
});
export type Options = Static<typeof Options>;

/** What the options lack; `undefined`: nothing. */
export const lackOf = ({ model, service, url, apiKey }: Options): string | undefined => {
  if ((model === undefined) === (service === undefined)) return 'its options need either `model` or `service`';
  if (service === 'searxng' && url === undefined) return '`service` searxng needs `url` in its options';
  return service === 'brave' && !apiKey ? '`service` brave needs `apiKey` in its options' : undefined;
};
