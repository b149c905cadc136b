import test from 'ava';
import type { ModelEvent } from '../../../engine/model/event.ts';
import { SignatureWatch } from '../../../engine/operators/signatures.ts';
import { CallKeys } from '../../../engine/routing/reasoning/call-keys.ts';
import { createSignatureCache, type SignatureCache } from '../../../engine/routing/reasoning/signature-cache.ts';
import { payloadDigest } from '../../../engine/routing/reasoning/unbroken-tail.ts';
import { plainRequest } from '../../support/context.ts';

const request = plainRequest;
const key = (id: string): string => new CallKeys(request).next(id);
const data = 'a-payload-that-is-long-enough';

const watching = (memory: SignatureCache, client: 'messages' | 'chat' = 'chat') =>
  new SignatureWatch(memory, { provider: 'mine', client, request });

const start: ModelEvent = { type: 'message-start', id: 'i', model: 'm' };
const stop: ModelEvent = { type: 'message-stop', finish: 'tool-call', usage: {} };
const thinking = (index: number, text: string, payload?: string): ModelEvent[] => [
  { type: 'block-start', index, block: { type: 'thinking' } },
  ...[...text].map((piece): ModelEvent => ({ type: 'thinking-delta', index, text: piece })),
  ...(payload === undefined
    ? []
    : [{ type: 'signature-delta', index, signature: { format: 'messages', data: payload } } as const]),
  { type: 'block-stop', index },
];
const call = (index: number, id: string, payload?: string): ModelEvent[] => [
  {
    type: 'block-start',
    index,
    block: {
      type: 'tool-call',
      id,
      name: 'f',
      ...(payload !== undefined && { signature: { format: 'gemini', data: payload } }),
    },
  },
  { type: 'block-stop', index },
];
const marked = { format: 'messages', data, issuer: 'mine' };

test('a batch without payloads stays the very same', (t) => {
  const batch: readonly ModelEvent[] = [start, ...thinking(0, 'hm'), ...call(1, 'c'), stop];
  t.is(watching(createSignatureCache()).next(batch), batch);
});

test('payloads are marked with the provider, all else stays as it was', (t) => {
  const batch = [
    ...thinking(0, 'hm', data),
    { type: 'block-start', index: 1, block: { type: 'redacted-thinking', signature: { format: 'messages', data } } },
    { type: 'block-stop', index: 1 },
    ...call(2, 'c', data),
  ] as const satisfies readonly ModelEvent[];
  const read = watching(createSignatureCache()).next(batch);
  const expected = JSON.parse(
    JSON.stringify(batch)
      .replaceAll('"format":"messages",', '"format":"messages","issuer":"mine",')
      .replaceAll('"format":"gemini",', '"format":"gemini","issuer":"mine",'),
  );
  // Each is linked to the one before.
  const redactedAt = batch.findIndex(
    (event) => event.type === 'block-start' && event.block.type === 'redacted-thinking',
  );
  expected[redactedAt].block.signature.after = payloadDigest({ format: 'messages', data });
  t.deepEqual(JSON.parse(JSON.stringify(read)), expected);
});

test('each call keeps the reasoning since the one before', (t) => {
  const memory = createSignatureCache();
  const events = [
    start,
    ...thinking(0, 'one', data),
    ...call(1, 'c1'),
    ...call(2, 'c2', data),
    ...thinking(3, 'two'),
    ...call(4, 'c3'),
    stop,
  ];
  const watch = watching(memory);
  // However the events are cut into batches.
  for (const event of events) watch.next([event]);
  t.deepEqual(memory.call(key('c1')), {
    provider: 'mine',
    thinking: [{ type: 'thinking', text: 'one', signature: marked }],
    signature: undefined,
  });
  t.deepEqual(memory.call(key('c2')), {
    provider: 'mine',
    thinking: [],
    signature: { format: 'gemini', data, issuer: 'mine' },
  });
  t.deepEqual(memory.call(key('c3'))?.thinking, [{ type: 'thinking', text: 'two' }]);
});

for (const [title, events] of [
  ['an answer that is cut off', [start, ...thinking(0, 'one'), ...call(1, 'c')]],
  ['an answer that fails', [start, ...call(0, 'c', data), { type: 'error', fault: { kind: 'internal', message: '' } }]],
  ['calls that nothing came with', [start, ...call(0, 'c'), stop]],
] as const satisfies readonly (readonly [string, readonly ModelEvent[]])[]) {
  test(`${title}: nothing is kept`, (t) => {
    const memory = createSignatureCache();
    watching(memory).next(events);
    t.is(memory.call(key('c')), undefined);
  });
}

for (const [client, issuer] of [
  ['messages', 'mine'],
  ['chat', undefined],
] as const) {
  test(`the issuer of a payload is cached if the client gets it unpacked: ${client}`, (t) => {
    const memory = createSignatureCache();
    watching(memory, client).next(thinking(0, 'hm', data));
    t.is(memory.issuerOf({ format: 'messages', data }), issuer);
  });
}
