import { fail, type Static, Type } from 'junctor/transformer';

export const Options = Type.Object({
  service: Type.Optional(
    Type.Enum(['searxng', 'brave'], {
      title: 'A search service',
      description:
        'Who searches: `searxng`, a SearXNG of your own that answers in JSON, or `brave`, the Brave Search API. Default: the model that the entry names in `ask`, whose vendor searches.',
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
});
export type Options = Static<typeof Options>;

/** Whether a model searches, not a service. Throws if the service lacks an option. */
export const asksModel = ({ service, url, apiKey }: Options): boolean => {
  if (service === 'searxng' && url === undefined)
    fail('invalid-request', 'is required for searxng', { param: 'options.url' });
  if (service === 'brave' && !apiKey) fail('invalid-request', 'is required for brave', { param: 'options.apiKey' });
  return service === undefined;
};
