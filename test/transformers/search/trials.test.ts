import test from 'ava';
import { everyCut, everyLeave, testStage } from '../../../engine/testing-api.ts';
import { fail, type ModelEvent, type ModelRequest } from '../../../engine/transformer-api.ts';
import search from '../../../transformers/search/index.ts';

/** The stage by itself: what the model and the source are asked, and what comes of their answers. */
const request: ModelRequest = {
  model: 'm',
  system: [],
  turns: [{ role: 'user', parts: [{ type: 'text', text: 'Look it up.' }] }],
  tools: [
    {
      type: 'web-search',
      maxUses: 3,
      allowedDomains: ['example.com', 'docs.example.org/guide'],
      userLocation: { type: 'approximate', country: 'pl', city: 'Łódź' },
      raw: { wire: 'messages', value: { type: 'web_search_20260209', name: 'web_search' } },
      at: 'tools[0]',
    },
  ],
  stream: true,
};

const calling = (...queries: readonly unknown[]): readonly ModelEvent[] => [
  { type: 'message-start', id: 'a', model: 'm', usage: { input: 10 } },
  ...queries.flatMap((query, index): ModelEvent[] => [
    { type: 'block-start', index, block: { type: 'tool-call', id: `c${index}`, name: 'web_search' } },
    { type: 'input-delta', index, json: JSON.stringify({ query }) },
    { type: 'block-stop', index },
  ]),
  { type: 'message-stop', finish: 'tool-call', usage: { input: 10, output: 5 } },
];

const saying = (text: string): readonly ModelEvent[] => [
  { type: 'message-start', id: 'b', model: 'm' },
  { type: 'block-start', index: 0, block: { type: 'text' } },
  { type: 'text-delta', index: 0, text },
  { type: 'block-stop', index: 0 },
  { type: 'message-stop', finish: 'end', usage: { input: 30, output: 7 } },
];

/** Searches for these queries once, then speaks. */
const once =
  (...queries: readonly unknown[]) =>
  ({ turns }: ModelRequest) =>
    turns.length === 1 ? calling(...queries) : saying('Here: https://example.com/a, and so on.');

const results = JSON.stringify({
  web: {
    results: [
      { url: 'https://www.example.com/a', title: 'A', description: 'x' },
      {
        url: 'https://example.com/a',
        title: 'A &amp; <strong>B</strong>',
        description: 'Said &quot;yes&quot;.',
        page_age: '2026',
      },
      { url: 'https://docs.example.org/guide/one', title: 'Guide', description: '' },
      { url: 'https://docs.example.org/other', title: 'Not allowed', description: '' },
      { url: 'https://example.com.evil.test/', title: 'Not allowed either', description: '' },
      { url: 'https://user:pass@example.com/', title: 'With a password', description: '' },
      'no result',
    ],
  },
});

const brave = { service: 'brave', apiKey: 'brave-key' };
const given = { stage: search, request, client: { wire: 'messages' as const } };

test('what a client limits is asked of the service, and holds for its results', async (t) => {
  const asked: unknown[] = [];
  const { calls, events, losses } = await testStage({
    ...given,
    options: brave,
    answer: once('turtles'),
    fetch(url, { method, headers }) {
      asked.push([method, url, headers['x-subscription-token']]);
      return { text: results };
    },
  });
  t.deepEqual(asked, [
    [
      'GET',
      'https://api.search.brave.com/res/v1/web/search?q=turtles+%28site%3Aexample.com+OR+site%3Adocs.example.org%2Fguide%29&count=20&country=PL',
      'brave-key',
    ],
  ]);
  const told = calls[1]?.request.turns.at(-1)?.parts[0];
  const text = told?.type === 'tool-result' && told.content[0]?.type === 'text' ? told.content[0].text : '';
  t.deepEqual(JSON.parse(text.slice(text.indexOf('\n') + 1)), {
    query: 'turtles',
    results: [
      { title: 'A', url: 'https://www.example.com/a', excerpt: 'x' },
      { title: 'A & B', url: 'https://example.com/a', excerpt: 'Said "yes".', date: '2026' },
      { title: 'Guide', url: 'https://docs.example.org/guide/one', excerpt: '' },
    ],
  });
  t.deepEqual(
    calls.map(({ request: { toolChoice } }) => toolChoice),
    [{ type: 'tool', name: 'web_search' }, { type: 'auto' }],
  );
  const all = events.after.flat();
  const cited = all.flatMap((event) =>
    event.type === 'citation-delta' && event.citation.type === 'url' ? [event.citation.url] : [],
  );
  t.deepEqual(cited, ['https://example.com/a']);
  t.like(all.at(-1), { type: 'message-stop', finish: 'end', usage: { input: 30, output: 12, webSearches: 1 } });
  t.deepEqual(
    losses.map(({ path, outcome }) => `${outcome} ${path}`),
    ['approximated tools[0]', 'approximated tools[0].user_location'],
  );
});

test('cuts and clients that go do no harm', async (t) => {
  const whole = { ...given, options: brave, answer: once('turtles'), fetch: () => ({ text: results }) };
  await t.notThrowsAsync(everyCut(whole));
  await t.notThrowsAsync(everyLeave(whole));
});

/** What the client is shown of searches that fail, and how often the service is asked. */
const failing: Readonly<
  Record<string, { readonly queries: readonly unknown[]; readonly codes: readonly string[]; readonly asked: number }>
> = {
  'no query': { queries: [undefined], codes: ['invalid_tool_input'], asked: 0 },
  'a number': { queries: [7], codes: ['invalid_tool_input'], asked: 0 },
  'a long one': { queries: ['x'.repeat(401)], codes: ['query_too_long'], asked: 0 },
  'too many at once': {
    queries: ['a', 'b', 'c', 'd', 'e'],
    codes: ['max_uses_exceeded', 'max_uses_exceeded'],
    asked: 3,
  },
  'the same twice': { queries: ['a', 'a'], codes: [], asked: 1 },
};

for (const [name, { queries, codes, asked }] of Object.entries(failing)) {
  test(`searches: ${name}`, async (t) => {
    let fetched = 0;
    const { events, text, calls } = await testStage({
      ...given,
      options: brave,
      answer: once(...queries),
      fetch: () => {
        fetched += 1;
        return { text: results };
      },
    });
    const shown = events.after
      .flat()
      .flatMap((event) =>
        event.type === 'block-start' && event.block.type === 'opaque'
          ? [Object(event.block.raw.content).error_code]
          : [],
      );
    t.deepEqual(
      shown.filter((code) => code !== undefined),
      codes,
    );
    t.is(fetched, asked);
    t.is(text, 'Here: https://example.com/a, and so on.');
    t.is(calls.length, 2);
  });
}

test('a model that searches again and again must answer in the end', async (t) => {
  const { events, calls, finish } = await testStage({
    ...given,
    options: brave,
    answer: ({ turns }) => calling(`round ${turns.length}`),
    fetch: () => ({ text: '{}' }),
  });
  t.deepEqual(
    calls.map(({ request: { toolChoice } }) => toolChoice?.type),
    ['tool', 'auto', 'auto', 'auto', 'none'],
  );
  t.is(finish, 'end');
  t.like(events.after.flat().at(-1), { usage: { webSearches: 3 } });
});

/** A source that can't be used: what is logged, and what the client is shown. */
const sources: Readonly<
  Record<string, { readonly answer: object | 'throws'; readonly code: string; readonly why: RegExp }>
> = {
  'too many requests': { answer: { status: 429 }, code: 'too_many_requests', why: /status 429/ },
  'a wrong key': { answer: { status: 401 }, code: 'unavailable', why: /status 401: is `apiKey` right/ },
  'a page': { answer: { text: '<html>' }, code: 'unavailable', why: /other than JSON/ },
  'a list': { answer: { text: '[]' }, code: 'unavailable', why: /other than JSON/ },
  'no connection': { answer: 'throws', code: 'unavailable', why: /gone/ },
  'too much': { answer: { text: 'x'.repeat(1 + (1 << 20)) }, code: 'unavailable', why: /more than 1048576 bytes/ },
};

for (const [name, { answer, code, why }] of Object.entries(sources)) {
  test(`a source that answers with ${name}`, async (t) => {
    const { events, calls, log, text } = await testStage({
      ...given,
      options: brave,
      answer: once('turtles'),
      fetch: () => {
        if (answer === 'throws') throw new Error('gone');
        return answer;
      },
    });
    const shown = events.after
      .flat()
      .flatMap((event) =>
        event.type === 'block-start' && event.block.type === 'opaque'
          ? [Object(event.block.raw.content).error_code]
          : [],
      );
    t.deepEqual(shown, [undefined, code]);
    t.like(calls[1]?.request.turns.at(-1)?.parts[0], { type: 'tool-result', isError: true });
    t.is(text, 'Here: https://example.com/a, and so on.');
    t.regex(String(log[0]?.fields.why), why);
    t.false(JSON.stringify(log).includes('turtles'));
  });
}

/** A model that searches, by the answer that it gives. */
const searching = (blocks: readonly ModelEvent[], webSearches?: number): readonly ModelEvent[] => [
  { type: 'message-start', id: 's', model: 's' },
  ...blocks,
  { type: 'message-stop', finish: 'end', usage: { ...(webSearches !== undefined && { webSearches }) } },
];

const text = (said: string, ...urls: readonly string[]): readonly ModelEvent[] => [
  { type: 'block-start', index: 0, block: { type: 'text' } },
  { type: 'text-delta', index: 0, text: said },
  ...urls.map((url) => ({ type: 'citation-delta', index: 0, citation: { type: 'url', url, title: 'T' } }) as const),
  { type: 'block-stop', index: 0 },
];

const block = (content: object): readonly ModelEvent[] => [
  {
    type: 'block-start',
    index: 0,
    block: {
      type: 'opaque',
      wire: 'messages',
      raw: { type: 'web_search_tool_result', content: JSON.parse(JSON.stringify(content)) },
    },
  },
  { type: 'block-stop', index: 0 },
];

const models: Readonly<
  Record<string, { readonly answer: readonly ModelEvent[] | (() => never); readonly shown: unknown }>
> = {
  'cites a page': { answer: searching(text('It is so.', 'https://example.com/a')), shown: ['https://example.com/a'] },
  'cites what is not allowed': { answer: searching(text('It is so.', 'https://evil.test/')), shown: [] },
  'shows results': {
    answer: searching(
      block([{ type: 'web_search_result', url: 'https://example.com/b', title: 'B', encrypted_content: 'x' }]),
    ),
    shown: ['https://example.com/b'],
  },
  'searched and found nothing': { answer: searching(text('There is nothing.'), 1), shown: [] },
  'made it up': { answer: searching(text('I know it.')), shown: 'unavailable' },
  'was over its limit': {
    answer: searching(block({ type: 'web_search_tool_result_error', error_code: 'too_many_requests' })),
    shown: 'too_many_requests',
  },
  failed: { answer: () => fail('upstream-overloaded', 'busy'), shown: 'unavailable' },
};

for (const [name, { answer, shown }] of Object.entries(models)) {
  test(`a model that searches and ${name}`, async (t) => {
    const { events, calls } = await testStage({
      ...given,
      options: {},
      answer: once('turtles'),
      ask: { 'work,searches': answer },
    });
    const contents = events.after
      .flat()
      .flatMap((event) =>
        event.type === 'block-start' &&
        event.block.type === 'opaque' &&
        event.block.raw.type === 'web_search_tool_result'
          ? [event.block.raw.content]
          : [],
      );
    t.deepEqual(
      contents.map((content) =>
        Array.isArray(content) ? content.map((one) => Object(one).url) : Object(content).error_code,
      ),
      [shown],
    );
    const asked = calls.find(({ kind }) => kind === 'ask');
    t.like(asked?.request.tools[0], {
      type: 'web-search',
      maxUses: 1,
      allowedDomains: ['example.com', 'docs.example.org/guide'],
    });
  });
}

test('options that say too little of the service are said', async (t) => {
  for (const [options, says] of [
    [{ service: 'brave' }, /options\.apiKey is required for brave/],
    [{ service: 'searxng' }, /options\.url is required for searxng/],
  ] as const) {
    await t.throwsAsync(testStage({ ...given, options, answer: 'x' }), { message: says });
  }
});
