import { jsonAnswer, type Reaction } from '../../support/upstreams/upstream.ts';

/** Where the gateway searches the web for models without a search. */
export const searxng = { baseUrl: 'http://searxng.example' } as const;

/** One page for each query, which has its words in its address and its text. */
export const searxngAnswer = (url: string): Reaction => {
  const query = new URL(url).searchParams.get('q') ?? '';
  const page = {
    url: `https://found.example/${encodeURIComponent(query)}`,
    title: `About ${query}`,
    content: `excerpt of ${query}`,
  };
  return jsonAnswer({ query, results: [page] });
};
