import test from 'ava';
import fc from 'fast-check';
import { from, lastValueFrom, Subject, toArray } from 'rxjs';
import { replayEvents } from '../../../../../engine/config/custom/answers.ts';
import { coalesce, mapText } from '../../../../../engine/config/custom/helpers/map-text.ts';
import { mapTexts, type TextPlace } from '../../../../../engine/config/custom/helpers/map-texts.ts';
import { requestProblem } from '../../../../../engine/model/checked/check-request.ts';
import type { Batch, ModelEvent } from '../../../../../engine/model/event.ts';
import { writeJson } from '../../../../../engine/model/json/json.ts';
import type { ModelRequest } from '../../../../../engine/model/request.ts';
import { clientProtocols } from '../../../../../protocols/index.ts';
import { plainRequest } from '../../../../support/context.ts';
import { startGateway } from '../../../../support/gateway.ts';
import { until } from '../../../../support/until.ts';
import { chatReply } from '../../../../support/upstreams/chat-stream.ts';
import { jsonAnswer, startUpstream } from '../../../../support/upstreams/upstream.ts';

const name = 'Anna "K"';
const schema = { type: 'object', properties: { [name]: { description: name } } };
const image = { type: 'image_url', image_url: { url: `https://h.example/${name}` } };

/** Bodies with the name in every place where a client can write it. */
const bodies: Readonly<Record<string, object>> = {
  messages: {
    model: 'm',
    max_tokens: 9,
    system: [{ type: 'text', text: name }],
    stop_sequences: [name],
    metadata: { user_id: name },
    own_member: { [name]: name },
    tools: [{ name: 'look', description: name, input_schema: schema }],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: name, own: name },
          { type: 'image', source: { type: 'url', url: `https://h.example/${name}` } },
          {
            type: 'document',
            title: name,
            context: name,
            source: { type: 'text', media_type: 'text/plain', data: name },
          },
          {
            type: 'search_result',
            source: name,
            title: name,
            content: [{ type: 'text', text: name }],
          },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: name, signature: 's' },
          { type: 'tool_use', id: 'c', name: 'look', input: { at: name, id: 5 } },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: [{ type: 'text', text: name }] }] },
    ],
  },
  chat: {
    model: 'm',
    stop: [name],
    user: name,
    metadata: { a: name },
    own_member: name,
    response_format: { type: 'json_schema', json_schema: { name: 'n', description: name, schema } },
    tools: [{ type: 'function', function: { name: 'look', description: name, parameters: schema } }],
    messages: [
      { role: 'system', content: name },
      { role: 'user', name, content: [{ type: 'text', text: name }, image] },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'c', type: 'function', function: { name: 'look', arguments: JSON.stringify({ at: name }) } },
        ],
      },
      { role: 'tool', tool_call_id: 'c', content: name },
    ],
  },
  responses: {
    model: 'm',
    instructions: name,
    user: name,
    own_member: name,
    text: { format: { type: 'json_schema', name: 'n', schema } },
    tools: [{ type: 'function', name: 'look', description: name, parameters: schema }],
    input: [
      { role: 'user', content: [{ type: 'input_text', text: name }] },
      { type: 'function_call', call_id: 'c', name: 'look', arguments: JSON.stringify({ at: name }) },
      { type: 'function_call_output', call_id: 'c', output: name },
      { type: 'web_search_call', id: 'w', status: 'completed', action: { type: 'search', query: name } },
    ],
  },
};

const written = (value: ModelRequest): string => writeJson(value);

for (const { protocol } of clientProtocols) {
  test(`mapTexts reaches every text of a request of ${protocol.wire}`, (t) => {
    const request = protocol.decodeRequest(JSON.parse(JSON.stringify(bodies[protocol.wire])), { chatStrict: false });
    const places = new Set<TextPlace>();
    const masked = mapTexts(request, (text, place) => {
      if (text.includes(name)) places.add(place);
      return text.replaceAll(name, '[1]');
    });
    t.true(written(request).includes('Anna'));
    t.false(written(masked).includes('Anna'), written(masked));
    t.is(requestProblem(masked), undefined);
    t.true(places.size >= 8, [...places].join());
    t.deepEqual(
      mapTexts(request, (text) => text),
      request,
    );
  });
}

test('mapTexts keeps the digits of long numbers', (t) => {
  const parts = [{ type: 'tool-call', id: 'c', name: 'n', input: '{"a":"x","id":12345678901234567890}' }] as const;
  const request = { ...plainRequest, turns: [{ role: 'assistant', parts }] } as const;
  const mapped = mapTexts(request, (text) => (text === 'x' ? 'y' : text));
  t.true(written(mapped).includes(String.raw`{\"a\":\"y\",\"id\":12345678901234567890}`));
});

const answerOf = (pieces: readonly string[]): readonly Batch[] => [
  [
    { type: 'message-start', id: '', model: '' },
    { type: 'block-start', index: 0, block: { type: 'text' } },
  ],
  ...pieces.map((text) => [{ type: 'text-delta', index: 0, text } as const]),
  [
    { type: 'block-stop', index: 0 },
    { type: 'message-stop', finish: 'end', usage: {} },
  ],
];

const textOf = (batches: readonly Batch[]): string =>
  batches.flat().reduce((text, event) => (event.type === 'text-delta' ? text + event.text : text), '');

test('mapText gives the same text wherever the model cuts it', async (t) => {
  const unmask = (text: string): string =>
    text.replace(/\[\[(\d)\]\]/g, (_, index) => ['Anna', '', '😀'][Number(index)] ?? '?');
  const piece = fc.constantFrom('[[0]]', '[[1]]', '[[2]]', '[', '[[', ']', 'a', ' 😀 ', 'words of a text ');
  await fc.assert(
    fc.asyncProperty(
      fc.array(piece, { maxLength: 20 }),
      fc.infiniteStream(fc.integer({ min: 1, max: 4 })),
      async (list, sizes) => {
        const text = list.join('');
        const pieces: string[] = [];
        for (let at = 0; at < text.length; ) {
          const size = sizes.next().value ?? 1;
          pieces.push(text.slice(at, at + size));
          at += size;
        }
        const batches = await lastValueFrom(from(answerOf(pieces)).pipe(mapText(unmask, { lookbehind: 5 }), toArray()));
        t.is(textOf(batches), unmask(text));
        t.is(batches.length, pieces.length + 2, 'a batch for each, as the time limit wants it');
        t.false(batches.flat().some((event) => event.type === 'text-delta' && event.text === ''));
      },
    ),
  );
});

test('coalesce merges deltas, holds back neither the first nor the end, and loses nothing', async (t) => {
  const source = new Subject<Batch>();
  const out: ModelEvent[][] = [];
  const ended = source.pipe(coalesce({ ms: 20, chars: 6 })).subscribe((batch) => out.push([...batch]));
  t.teardown(() => ended.unsubscribe());
  const [start = [], ...rest] = answerOf(['a', 'b', 'c', 'defghi', 'j']);
  const end = rest.pop() ?? [];
  source.next(start);
  for (const batch of rest.slice(0, 3)) source.next(batch);
  t.is(textOf(out), 'a');
  await until(() => textOf(out) === 'abc');
  source.next(rest[3] ?? []);
  t.is(textOf(out), 'abcdefghi', 'enough characters');
  source.next(rest[4] ?? []);
  t.is(textOf(out), 'abcdefghi');
  source.next(end);
  t.is(textOf(out), 'abcdefghij');
  t.is(out.flat().filter(({ type }) => type === 'text-delta').length, 4);
  t.is(out.at(-1)?.at(-1)?.type, 'message-stop');
});

for (const [title, half] of [
  ['a request half', `request() { passOver('no night shift') }`],
  [
    'an answer without content',
    `operators: () => ({ events: rx.map((batch) => {
      if (!batch.some((e) => e.type === 'text-delta') && batch.some((e) => e.type === 'message-stop')) passOver('empty');
      return batch; }) })`,
  ],
] as const) {
  test(`passOver in ${title} goes to the next destination, without a retry of this one`, async (t) => {
    const models: unknown[] = [];
    const upstream = await startUpstream(({ body }) => {
      models.push(Object(body).model);
      return jsonAnswer(chatReply(Object(body).model === 'first' ? '' : 'hello'));
    });
    t.teardown(() => upstream.close());
    const gateway = await startGateway(
      {
        Providers: [{ name: 'p', baseUrl: upstream.url, apiKey: 'k', models: ['first', 'second'] }],
        Router: { default: 'p,first', fallback: { default: ['p,second'] } },
        transformers: [{ path: 'pass.js', models: ['first'] }],
      },
      {},
      {
        files: {
          'pass.js': `import { passOver, rx, transformer } from 'junctor/transformer';
            export default transformer({ name: 'pass', ${half} });`,
        },
      },
    );
    t.teardown(gateway.stop);
    const response = await fetch(`${gateway.baseUrl}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ model: 'any', messages: [{ role: 'user', content: 'Hi' }] }),
    });
    t.true((await response.text()).includes('hello'));
    t.is(models.filter((model) => model === 'first').length, title === 'a request half' ? 0 : 1);
  });
}

test('replay: kept events come as a memory gives them, and what is none is named', async (t) => {
  const events = [
    { type: 'message-start', id: 'a', model: 'm' },
    { type: 'message-stop', finish: 'end', usage: { output: 1 } },
  ];
  t.deepEqual(await lastValueFrom(replayEvents(JSON.parse(JSON.stringify(events)))), events);
  t.throws(() => replayEvents({ events: [] }), { message: 'What was kept is no list of events.' });
  t.throws(() => replayEvents([...events, { type: 'text-delta', index: 0 }]), {
    message: /^What was kept has no event at 2: text is required/,
  });
  t.throws(() => replayEvents([null]), { message: /^What was kept has no event at 0: it must be/ });
});
