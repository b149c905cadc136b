import test from 'ava';
import type { ModelRequest } from '../../../../engine/model/request.ts';
import { CallKeys } from '../../../../engine/routing/reasoning/call-keys.ts';
import { type SharedTexts, shareSignatures } from '../../../../engine/routing/reasoning/shared-signatures.ts';
import { createSignatureCache } from '../../../../engine/routing/reasoning/signature-cache.ts';
import { plainRequest } from '../../../support/context.ts';

/** A conversation that ends with the results of these calls, and the key of the last. */
const afterCalls = (...ids: readonly string[]) => {
  const request: ModelRequest = {
    ...plainRequest,
    turns: ids.flatMap((id) => [
      { role: 'assistant', parts: [{ type: 'tool-call', id, name: 'f', input: {} }] },
      { role: 'user', parts: [{ type: 'tool-result', id, content: [] }] },
    ]),
  };
  const keys = new CallKeys(request);
  return { request, key: ids.map((id) => keys.next(id)).at(-1) ?? '' };
};

const call = { provider: 'p', thinking: [], signature: { format: 'gemini', data: 'signed' } } as const;

/** Two processes. What the first keeps arrives at the second's read number `arrivesAt`; `reads`: the names of each. */
const twoProcesses = (arrivesAt: number) => {
  const kept = new Map<string, string>();
  const reads: (readonly string[])[] = [];
  const texts: SharedTexts = {
    isOpen: () => true,
    put: (name, text) => kept.set(name, text),
    async read(names) {
      reads.push(names);
      return names.map((name) => (reads.length >= arrivesAt ? kept.get(name) : undefined));
    },
  };
  const [one, two] = [shareSignatures(createSignatureCache(), texts), shareSignatures(createSignatureCache(), texts)];
  return { one, two, reads };
};

test('the newest call is looked for again, since it may be on its way to the store', async (t) => {
  const { one, two, reads } = twoProcesses(2);
  const { request, key } = afterCalls('a', 'b');
  one.storeCall(key, call);
  await two.recall({ request, provider: 'p', isComplete: false });
  t.like(two.call(key), call);
  t.deepEqual(
    reads.map((names) => names.length),
    [2, 1],
  );
});

test('calls of a provider that signs none are looked for once', async (t) => {
  const { one, two, reads } = twoProcesses(1);
  const recall = (...ids: readonly string[]) =>
    two.recall({ request: afterCalls(...ids).request, provider: 'p', isComplete: false });
  await recall('a');
  t.is(reads.length, 2, 'it is not known yet');
  await recall('a', 'b');
  t.deepEqual(
    reads.slice(2).map((names) => names.length),
    [1],
  );
  const { request, key } = afterCalls('a', 'b', 'c');
  one.storeCall(key, call);
  await two.recall({ request, provider: 'p', isComplete: false });
  t.like(two.call(key), call);
  await recall('a', 'b', 'c', 'd');
  t.is(reads.length, 6, 'it signs, so the newest is looked for twice again');
});
