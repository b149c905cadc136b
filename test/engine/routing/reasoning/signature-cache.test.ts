import test from 'ava';
import { type CallSignatures, createSignatureCache } from '../../../../engine/routing/reasoning/signature-cache.ts';

const bounds = { calls: 3, callBytes: 10_000, issuers: 2 };

const thought = (length: number): CallSignatures => ({
  provider: 'a',
  thinking: [{ type: 'thinking', text: 'x'.repeat(length) }],
  signature: undefined,
});

test('a call is known by its key', (t) => {
  const memory = createSignatureCache(bounds);
  memory.storeCall('one', thought(1));
  t.deepEqual(memory.call('one'), thought(1));
  t.is(memory.call('other'), undefined);
});

test('the call used least goes first', (t) => {
  const memory = createSignatureCache(bounds);
  for (const id of ['a', 'b', 'c']) memory.storeCall(id, thought(1));
  memory.call('a');
  memory.storeCall('d', thought(1));
  t.deepEqual(
    ['a', 'b', 'c', 'd'].map((id) => memory.call(id) !== undefined),
    [true, false, true, true],
  );
});

test('bytes are bounded as well, and one call that is too big pushes nothing out', (t) => {
  const memory = createSignatureCache(bounds);
  memory.storeCall('a', thought(3_000));
  memory.storeCall('huge', thought(6_000));
  t.deepEqual([memory.call('a') !== undefined, memory.call('huge')], [true, undefined]);
  memory.storeCall('b', thought(3_000));
  t.deepEqual([memory.call('a'), memory.call('b') !== undefined], [undefined, true]);
});

const payload = 'EqQBCgIYAhIMvendor==';

test('a payload is recognized by its bytes, for any client', (t) => {
  const memory = createSignatureCache(bounds);
  memory.storeIssuer({ format: 'messages', data: payload, issuer: 'a' });
  t.is(memory.issuerOf({ format: 'messages', data: payload }), 'a');
  t.is(memory.issuerOf({ format: 'messages', data: `${payload}x` }), undefined);
});

test('a payload inside an entry is recognized in any member order', (t) => {
  const memory = createSignatureCache(bounds);
  const entry = { type: 'reasoning.text', signature: payload, index: 0 };
  memory.storeIssuer({ format: 'chat', data: JSON.stringify(entry), issuer: 'a' });
  t.is(memory.issuerOf({ format: 'chat', data: JSON.stringify({ signature: payload, type: 'reasoning.text' }) }), 'a');
});

test('an entry without a payload has no issuer', (t) => {
  const memory = createSignatureCache(bounds);
  const data = JSON.stringify({ type: 'reasoning.text', format: 'made-up-responses-v1', index: 0 });
  memory.storeIssuer({ format: 'chat', data, issuer: 'a' });
  t.is(memory.issuerOf({ format: 'chat', data }), undefined);
});

test('issuers are bounded', (t) => {
  const memory = createSignatureCache(bounds);
  const data = [1, 2, 3].map((count) => `${payload}${count}`);
  for (const one of data) memory.storeIssuer({ format: 'messages', data: one, issuer: 'a' });
  t.deepEqual(
    data.map((one) => memory.issuerOf({ format: 'messages', data: one })),
    [undefined, 'a', 'a'],
  );
});
