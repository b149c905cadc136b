import test from 'ava';
import { Losses } from '../../../engine/model/loss.ts';
import type { Signature } from '../../../engine/model/reasoning/signature.ts';
import type { ModelRequest, Part, ToolCallPart } from '../../../engine/model/request.ts';
import { reconcileSignatures } from '../../../engine/operators/signatures.ts';
import { CallKeys } from '../../../engine/routing/reasoning/call-keys.ts';
import {
  type CallSignatures,
  createSignatureCache,
  type SignatureCache,
} from '../../../engine/routing/reasoning/signature-cache.ts';
import { plainRequest } from '../../support/context.ts';

const data = 'a-payload-that-is-long-enough';
const signature = (over: Partial<Signature> = {}): Signature => ({ format: 'messages', data, ...over });
const thinking = (over?: Partial<Signature>): Part => ({
  type: 'thinking',
  text: 'hm',
  at: 'messages[1].content[0]',
  ...(over && { signature: signature(over) }),
});
const redacted = (over: Partial<Signature>): Part => ({
  type: 'redacted-thinking',
  signature: signature(over),
  at: 'messages[1].content[0]',
});
const call = (over?: Partial<Signature>): ToolCallPart => ({
  type: 'tool-call',
  id: 'c1',
  name: 'f',
  input: {},
  at: 'messages[1].content[1]',
  ...(over && { signature: signature(over) }),
});
const text: Part = { type: 'text', text: 'Wait.' };

const conversation = (parts: readonly Part[], over: Partial<ModelRequest> = {}): ModelRequest => ({
  ...plainRequest,
  turns: [
    { role: 'user', parts: [{ type: 'text', text: 'go' }] },
    { role: 'assistant', parts, at: 'messages[1]' },
    { role: 'user', parts: [{ type: 'tool-result', id: 'c1', content: [] }] },
  ],
  ...over,
});

const settle = (request: ModelRequest, memory: SignatureCache = createSignatureCache()) => {
  const losses = new Losses('test');
  const settled = reconcileSignatures(request, { provider: 'mine', wire: 'messages' }, memory, losses);
  return {
    ...settled,
    parts: settled.request.turns[1]?.parts,
    losses: losses.list.map(({ path }) => path),
  };
};

const drops: readonly (readonly [title: string, part: Part, left: readonly Part[], path: string])[] = [
  ['thinking', thinking({ issuer: 'other' }), [], 'messages[1].content[0]'],
  ['redacted thinking', redacted({ issuer: 'other' }), [], 'messages[1].content[0]'],
  ['a call’s payload', call({ issuer: 'other' }), [call()], 'messages[1].content[1].signature'],
];
for (const [title, part, left, path] of drops) {
  test(`reasoning that another provider issued is removed: ${title}`, (t) => {
    const { parts, losses, relayable } = settle(conversation([part, text]));
    t.deepEqual(parts, [...left, text]);
    t.deepEqual(losses, [path]);
    t.false(relayable);
  });
}

const stays: readonly (readonly [title: string, part: Part, relayable: boolean])[] = [
  ['its own, from a carrier', thinking({ issuer: 'mine' }), false],
  ['its own format’s, from an unknown issuer', thinking({}), true],
  ['another wire’s, which the encoder leaves out', thinking({ format: 'responses' }), false],
  ['reasoning that never had a payload', thinking({ data: '', issuer: 'other' }), false],
  ['reasoning without any signature', thinking(), true],
];
for (const [title, part, relayable] of stays) {
  test(`what stays: ${title}`, (t) => {
    const request = conversation([part, call()]);
    const settled = settle(request);
    t.is(settled.request, request);
    t.is(settled.relayable, relayable);
    t.deepEqual(settled.losses, []);
  });
}

for (const [issuer, kept] of [
  ['mine', true],
  ['other', false],
] as const) {
  test(`an unpacked payload that the cache knows as ${issuer}’s`, (t) => {
    const memory = createSignatureCache();
    memory.storeIssuer(signature({ issuer }));
    const { parts, relayable } = settle(conversation([thinking({}), call()]), memory);
    t.deepEqual(parts, kept ? [thinking({}), call()] : [call()]);
    t.is(relayable, kept);
  });
}

const remembered: CallSignatures = {
  provider: 'mine',
  thinking: [{ type: 'thinking', text: 'kept', signature: signature({ issuer: 'mine' }) }],
  signature: signature({ issuer: 'mine' }),
};
const restored: readonly Part[] = [...remembered.thinking, text, call({ issuer: 'mine' })];

const knowing = (over: Partial<CallSignatures> = {}, first = 'go'): SignatureCache => {
  const memory = createSignatureCache();
  const turns: ModelRequest['turns'] = [{ role: 'user', parts: [{ type: 'text', text: first }] }];
  memory.storeCall(new CallKeys({ ...plainRequest, turns }).next('c1'), { ...remembered, ...over });
  return memory;
};

const signed: Part = { ...call(), signature: signature({ issuer: 'mine' }) };

const recalls: readonly (readonly [
  title: string,
  parts: readonly Part[],
  memory: SignatureCache,
  expected: readonly Part[],
])[] = [
  ['reasoning and payload come back, reasoning first', [text, call()], knowing(), restored],
  ['a text that lost its payload is replaced', [thinking(), text, call()], knowing(), restored],
  ['reasoning with a payload stays', [thinking({}), call()], knowing(), [thinking({}), signed]],
  ['a call’s own payload stays', [call({})], knowing({ thinking: [] }), [call({})]],
  [
    'a text stays where there never was a payload',
    [thinking(), call()],
    knowing({ thinking: [{ type: 'thinking', text: 'kept' }], signature: undefined }),
    [thinking(), call()],
  ],
  ['another provider’s isn’t put back', [text, call()], knowing({ provider: 'other' }), [text, call()]],
  ['another conversation’s isn’t put back', [text, call()], knowing({}, 'go elsewhere'), [text, call()]],
];
for (const [title, parts, memory, expected] of recalls) {
  test(`what the client lost: ${title}`, (t) => {
    const settled = settle(conversation(parts), memory);
    t.deepEqual(settled.parts, expected);
    t.is(settled.relayable, settled.request.turns[1]?.parts === parts);
    t.deepEqual(settled.losses, []);
  });
}

test('what the client lost: where reasoning is off, only the call’s payload comes back', (t) => {
  const { parts } = settle(conversation([text, call()], { reasoning: { mode: 'off' } }), knowing());
  t.deepEqual(parts, [text, signed]);
});

test('what the client lost: later reasoning goes before its own call', (t) => {
  const memory = knowing();
  const second: CallSignatures = {
    ...remembered,
    thinking: [{ type: 'thinking', text: 'again' }],
    signature: undefined,
  };
  const request = conversation([call(), { ...call(), id: 'c2' }]);
  memory.storeCall(new CallKeys(request).next('c2'), second);
  t.deepEqual(settle(request, memory).parts, [
    ...remembered.thinking,
    signed,
    ...second.thinking,
    { ...call(), id: 'c2' },
  ]);
});
