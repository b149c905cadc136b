import test from 'ava';
import { clientWires } from '../../../engine/model/wire/client-wires.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import type { ScriptedUpstream } from '../../support/upstreams/upstream.ts';
import { askBy } from '../../support/ways.ts';
import { startSearxng, talks, wires } from './rig.ts';

/** The real SDKs, with a search and a function of the client's, through the gateway to models without a search. */
let gateway: TestGateway;
let searxng: ScriptedUpstream;
let vendors: Readonly<Record<string, ScriptedUpstream>> = {};

test.before(async () => {
  searxng = await startSearxng();
  const served = Object.entries(wires).map(async ([name, { serve }]) => [name, await serve()] as const);
  vendors = Object.fromEntries(await Promise.all(served));
  const rows = Object.entries(wires);
  gateway = await startGateway({
    LOG: false,
    RETRY: { attempts: 0 },
    Providers: rows.map(([name, { model }]) => ({ name, baseUrl: vendors[name]?.url, apiKey: 'k', models: [model] })),
    transformers: [
      ...rows.map(([provider, { format: name, options }]) => ({ name, provider, ...(options && { options }) })),
      { name: 'search', options: { service: 'searxng', url: searxng.url, always: true } },
    ],
  });
});

test.after.always(async () => {
  await gateway?.stop();
  await Promise.all([searxng, ...Object.values(vendors)].map((one) => one?.close()));
});

/** The conversation in a vendor's body. */
const turnsOf = (body: unknown): readonly unknown[] => {
  const { messages, input, contents } = Object(body);
  return messages ?? input ?? contents;
};

const urls = ['https://turtles.example/a?b=c', 'https://evil.example/'];

for (const wire of clientWires) {
  for (const [name, { model }] of Object.entries(wires)) {
    for (const stream of [true, false]) {
      test(`${wire} → ${name}, ${stream ? 'streamed' : 'whole'}`, async (t) => {
        const talk = talks[wire](gateway.baseUrl, `${name},${model}`, true);
        const shown = wire !== 'chat';
        const query = `turtles of ${wire} and ${name}, ${stream}`;
        const first = await talk.ask({ text: `search for ${query}`, stream });
        const [before = '', after = ''] = first.text.split('See ');
        t.is(before, 'Let me see.');
        t.true(after.startsWith('[Turtles](https://turtles.example/a?b=c). It said: Results of a web search.'), after);
        t.deepEqual(first.calls, []);
        t.is(first.stop, wire === 'messages' ? 'end_turn' : wire === 'chat' ? 'stop' : 'completed');
        t.deepEqual(first.searches, shown ? [{ query, urls }] : []);
        const [cited, ...others] = first.cited;
        t.is(cited?.url, urls[0]);
        if (wire !== 'messages') t.is(cited?.of, '[Turtles](https://turtles.example/a?b=c)');
        t.deepEqual(
          others.map(({ url }) => url),
          [...urls],
        );
        if (wire === 'messages') t.is(first.counted, 1);

        const second = await talk.ask({ text: 'both', stream });
        t.deepEqual(second.calls, ['look_up']);
        t.is(second.stop, wire === 'messages' ? 'tool_use' : wire === 'chat' ? 'tool_calls' : 'completed');
        t.deepEqual(second.searches, shown ? [{ query: 'both', urls }] : []);

        const third = await talk.ask({ results: ['It rains.'], stream });
        t.regex(third.text, /^Both said: .*A turtle is a reptile\./s);
        t.true(third.text.includes('It rains.'), third.text);
        t.deepEqual(third.calls, []);

        // What the model has read stays at the beginning of what it reads next, unless the client can't send it back: searches, or Gemini's
        // signatures of their calls.
        const asked = (vendors[name]?.requests ?? []).filter(({ text }) => text.includes(query));
        t.is(asked.length, 4);
        if (shown && name !== 'gemini') {
          const bodies = asked.map(({ body }) => turnsOf(body));
          for (const [index, turns] of bodies.entries())
            t.deepEqual(bodies[index + 1]?.slice(0, turns.length) ?? turns, turns);
        }
      });
    }
  }
}

test('a search over a WebSocket', async (t) => {
  const { raw, said, isWhole } = await askBy(t, gateway.baseUrl, 'responses socket', {
    model: `chat,${wires.chat.model}`,
    text: 'search for turtles',
    more: { tools: [{ type: 'web_search' }] },
  });
  t.true(isWhole, raw);
  t.regex(said, /^Let me see\.See \[Turtles\]/);
  const steps = ['in_progress', 'searching', 'completed'].map((step) =>
    raw.indexOf(`response.web_search_call.${step}`),
  );
  t.deepEqual(
    steps.toSorted((one, other) => one - other),
    steps,
  );
  t.true(Number(steps[0]) > 0, raw);
});
