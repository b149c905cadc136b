import type { Fetched, ModelRequest, Reply, StageContext } from 'junctor/transformer';
import { isAllowed, type WebSearchTool, withDomains } from './domains.ts';
import { isObject, listIn, parsed, textIn } from './json.ts';
import type { Options } from './options.ts';
import { type ErrorCode, isCode, maxQuery, type Outcome, type Page, pageOf, summaryOf } from './outcome.ts';

/** Runs one search of at most `maxQuery` characters. Never rejects. */
export type Searcher = (query: string) => Promise<Outcome>;

/** The amount of the pages that a client wants to see. */
const sizes = {
  low: { pages: 5, excerpt: 400 },
  medium: { pages: 8, excerpt: 800 },
  high: { pages: 12, excerpt: 1_600 },
} as const;

/** The search that the options name, for a client's tool. */
export const searcherFor = (tool: WebSearchTool, context: StageContext, options: Options): Searcher => {
  const size = sizes[tool.contextSize ?? 'medium'];
  const { service } = options;
  const run = service === undefined ? byModel(tool, context) : byService(service, tool, context, options);
  return async (query) => {
    try {
      const { pages, summary } = await run(query, size.excerpt);
      const seen = new Set<string>();
      const fitting = pages.filter(({ url }) => {
        if (seen.has(url) || !isAllowed(url, tool)) return false;
        seen.add(url);
        return true;
      });
      return { kind: 'found', pages: fitting.slice(0, size.pages), summary };
    } catch (error) {
      const code = error instanceof Failure ? error.code : 'unavailable';
      context.log('the search failed', { code, why: error instanceof Error ? error.message : String(error) });
      return { kind: 'failed', code };
    }
  };
};

interface Findings {
  readonly pages: readonly Page[];
  readonly summary?: string | undefined;
}

type Run = (query: string, maxExcerpt: number) => Promise<Findings>;

/** A search that failed for a reason that the client is told. */
class Failure extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** A search service: how it is asked, and where its results are. */
interface Service {
  readonly baseUrl?: string;
  readonly path: string;
  readonly query: (query: string, tool: WebSearchTool) => Readonly<Record<string, string>>;
  readonly headers: (apiKey: string) => Readonly<Record<string, string>>;
  readonly results: (answer: Readonly<Record<string, unknown>>) => readonly unknown[];
  /** Members of a result. */
  readonly members: { readonly excerpt: string; readonly date: string };
  /** The probable meaning of a refusal. */
  readonly hint: string;
}

type ServiceName = NonNullable<Options['service']>;

const services: Readonly<Record<ServiceName, Service>> = {
  /** Source: SearXNG documentation, "Search API". */
  searxng: {
    path: 'search',
    query: (query) => ({ q: query, format: 'json' }),
    headers: (apiKey): Readonly<Record<string, string>> => (apiKey === '' ? {} : { authorization: `Bearer ${apiKey}` }),
    results: ({ results }) => listIn(results),
    members: { excerpt: 'content', date: 'publishedDate' },
    hint: 'is `json` among `search.formats` of its settings?',
  },
  /** Source: Brave Search API reference, "Web search". */
  brave: {
    baseUrl: 'https://api.search.brave.com',
    path: 'res/v1/web/search',
    query: (query, { userLocation }) => ({
      q: query,
      count: '20',
      ...(/^[A-Za-z]{2}$/.test(textIn(userLocation?.country)) && {
        country: textIn(userLocation?.country).toUpperCase(),
      }),
    }),
    headers: (apiKey) => ({ 'x-subscription-token': apiKey }),
    results: ({ web }) => (isObject(web) ? listIn(web.results) : []),
    members: { excerpt: 'description', date: 'page_age' },
    hint: 'is `apiKey` right?',
  },
};

const byService = (
  service: ServiceName,
  tool: WebSearchTool,
  context: StageContext,
  { url, apiKey = '' }: Options,
): Run => {
  const { baseUrl = '', path, query, headers, results, members, hint } = services[service];
  const base = url ?? baseUrl;
  return async (asked, maxExcerpt) => {
    const address = new URL(path, base.endsWith('/') ? base : `${base}/`);
    for (const [name, value] of Object.entries(query(withDomains(asked, tool, maxQuery), tool))) {
      address.searchParams.set(name, value);
    }
    const sent = { accept: 'application/json', ...headers(apiKey) };
    const answer = await context.fetch(address.href, { headers: sent });
    return {
      pages: results(answerOf(answer, service, hint)).flatMap((result) => {
        if (!isObject(result)) return [];
        const { url: at, title, [members.excerpt]: excerpt, [members.date]: date } = result;
        return pageOf({ url: at, title, excerpt, date }, maxExcerpt) ?? [];
      }),
    };
  };
};

const answerOf = ({ status, text }: Fetched, service: string, hint: string): Readonly<Record<string, unknown>> => {
  if (status === 429) throw new Failure('too_many_requests', `${service} answered with status 429`);
  if (status !== 200) throw new Failure('unavailable', `${service} answered with status ${status}: ${hint}`);
  const answer = parsed(text);
  if (!isObject(answer))
    throw new Failure('unavailable', `${service} answered with something other than JSON: ${hint}`);
  return answer;
};

/** By a model whose vendor searches. It counts as a search only if the answer shows that one was made. */
const byModel =
  (tool: WebSearchTool, context: StageContext): Run =>
  async (query, maxExcerpt) => {
    const [model = ''] = context.asks;
    const reply = await context.ask(model, questionFor(query, tool));
    const pages = pagesIn(reply, maxExcerpt);
    if (pages.length === 0 && !(reply.usage.webSearches ?? 0)) {
      throw new Failure('unavailable', `${model} answered without a search`);
    }
    return { pages, summary: summaryOf(reply.text) };
  };

const maxAnswer = 4_096;

const questionFor = (
  query: string,
  { allowedDomains, blockedDomains, userLocation, contextSize }: WebSearchTool,
): ModelRequest => {
  const lists = {
    ...(allowedDomains && { allowed_domains: allowedDomains }),
    ...(blockedDomains && { blocked_domains: blockedDomains }),
    ...(userLocation && { user_location: userLocation }),
  };
  const value = { type: 'web_search_20250305', name: 'web_search', max_uses: 1, ...lists };
  return {
    model: '',
    stream: true,
    system: [],
    turns: [{ role: 'user', parts: [{ type: 'text', text: `${instruction}\n${JSON.stringify(query)}` }] }],
    tools: [
      {
        type: 'web-search',
        maxUses: 1,
        allowedDomains,
        blockedDomains,
        userLocation,
        contextSize,
        raw: { wire: 'messages', value },
      },
    ],
    maxTokens: maxAnswer,
  };
};

const instruction =
  'Search the web once for this query, and report what the pages say, each statement with its source:';

/** The pages that an answer names as its sources, whatever the format of its vendor. */
const pagesIn = ({ events }: Reply, maxExcerpt: number): readonly Page[] =>
  events.flatMap((event) => {
    if (event.type === 'citation-delta' && event.citation.type === 'url') {
      const { url, title, quote } = event.citation;
      return pageOf({ url, title, excerpt: quote, date: undefined }, maxExcerpt) ?? [];
    }
    if (event.type !== 'block-start' || event.block.type !== 'opaque') return [];
    const { type, content } = event.block.raw;
    if (type !== 'web_search_tool_result') return [];
    if (isObject(content) && typeof content.error_code === 'string') {
      throw new Failure(
        isCode(content.error_code) ? content.error_code : 'unavailable',
        `the model's search failed: ${content.error_code.slice(0, 60)}`,
      );
    }
    return listIn(content).flatMap((result) => {
      if (!isObject(result)) return [];
      return pageOf({ url: result.url, title: result.title, excerpt: '', date: result.page_age }, maxExcerpt) ?? [];
    });
  });
