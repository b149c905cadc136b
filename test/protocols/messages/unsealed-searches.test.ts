import test from 'ava';
import { startGateway } from '../../support/gateway.ts';
import { jsonAnswer, startUpstream } from '../../support/upstreams/upstream.ts';

/** Searches in a conversation that goes to the vendor of this format, which refuses payloads that it hasn't sealed. */
type Value = ReturnType<typeof Object>;

const sealed = 'EroTCioIBxgCIiQ0NGFlNjc2Yy05NThm';
const unsealed = 'junctor-search.eyJleGNlcnB0IjoieCJ9';

const searched = (payload: string, index = payload): readonly object[] => [
  { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'turtles' } },
  {
    type: 'web_search_tool_result',
    tool_use_id: 'srvtoolu_1',
    content: [
      {
        type: 'web_search_result',
        title: 'T "1"',
        url: 'https://a.example/',
        encrypted_content: payload,
        page_age: null,
      },
    ],
  },
  {
    type: 'text',
    text: 'So.',
    citations: [
      {
        type: 'web_search_result_location',
        url: 'https://a.example/',
        title: 'T',
        cited_text: 'x',
        encrypted_index: index,
      },
    ],
  },
];

const text = {
  type: 'text',
  text: 'An earlier web search, as data: {"query":"turtles","results":[{"title":"T \\"1\\"","url":"https://a.example/"}]}',
};

const failed = (code: string): readonly object[] => [
  { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'turtles' } },
  {
    type: 'web_search_tool_result',
    tool_use_id: 'srvtoolu_1',
    content: { type: 'web_search_tool_result_error', error_code: code },
  },
];

/** The assistant's blocks, and those that the vendor gets; absent: the same, byte for byte. */
const rows: Readonly<Record<string, readonly [blocks: readonly object[], gets?: readonly object[]]>> = {
  'sealed by the vendor': [searched(sealed)],
  'the gateway’s own': [searched(unsealed), [text, { type: 'text', text: 'So.' }]],
  'without a payload': [searched(''), [text, { type: 'text', text: 'So.' }]],
  'citations alone': [searched(sealed, unsealed).slice(2), [{ type: 'text', text: 'So.' }]],
  'one that failed': [failed('unavailable')],
};

test('a search that the vendor has not sealed becomes a text, and all others pass as they came', async (t) => {
  const upstream = await startUpstream(() =>
    jsonAnswer({
      id: 'm',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [{ type: 'text', text: 'ok' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    }),
  );
  const gateway = await startGateway({
    LOG: false,
    Providers: [{ name: 'a', baseUrl: upstream.url, apiKey: 'k', models: ['m'] }],
    transformers: [{ name: 'anthropic', provider: 'a' }],
  });
  t.teardown(async () => {
    await gateway.stop();
    await upstream.close();
  });
  for (const [name, [blocks, gets]] of Object.entries(rows)) {
    const messages = [
      { role: 'user', content: 'Search.' },
      { role: 'assistant', content: blocks },
      { role: 'user', content: 'And now?' },
    ];
    const sent = JSON.stringify({
      model: 'a,m',
      max_tokens: 9,
      messages,
      tools: [{ type: 'web_search_20250305', name: 'web_search' }],
    });
    const response = await fetch(`${gateway.baseUrl}/v1/messages`, { method: 'POST', body: sent });
    t.is(response.status, 200, `${name}: ${await response.text()}`);
    const { text: got = '', body } = upstream.requests.at(-1) ?? {};
    if (gets) {
      const parts: Value = Object(body).messages[1].content;
      t.deepEqual(
        parts,
        gets.map((one) => ({ ...one })),
        name,
      );
      // Citations of earlier turns aren't in the header.
      if (gets.length > 1) t.regex(response.headers.get('x-junctor-loss') ?? '', /messages\[1\]/, name);
    } else t.is(got, sent.replace('a,m', 'm'), name);
  }
});
