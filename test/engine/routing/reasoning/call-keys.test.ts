import test from 'ava';
import type { ModelRequest, Part } from '../../../../engine/model/request.ts';
import { CallKeys } from '../../../../engine/routing/reasoning/call-keys.ts';
import { plainRequest } from '../../../support/context.ts';

const text = (words: string): Part => ({ type: 'text', text: words });
const call = (id: string): Part => ({ type: 'tool-call', id, name: 'f', input: {} });
const talk = (first: readonly string[], ...calls: readonly string[]): ModelRequest => ({
  ...plainRequest,
  system: [{ type: 'text', text: `today it is ${calls.length}` }],
  turns: [
    { role: 'user', parts: first.map(text) },
    ...calls.flatMap((id): ModelRequest['turns'] => [
      { role: 'assistant', parts: [call(id)] },
      { role: 'user', parts: [{ type: 'tool-result', id, content: [] }] },
    ]),
  ],
});

test('a call has the same key when it is made and when it comes back', (t) => {
  const made = new CallKeys(talk(['go'], 'a', 'b')).skipHistory().next('c');
  const keys = new CallKeys(talk(['go'], 'a', 'b', 'c'));
  t.is(['a', 'b', 'c'].map((id) => keys.next(id)).at(-1), made);
});

test('an id that comes again is another call', (t) => {
  const made = new CallKeys(talk(['go'], 'call_0')).skipHistory().next('call_0');
  const keys = new CallKeys(talk(['go'], 'call_0', 'call_0'));
  t.not(keys.next('call_0'), made);
  t.is(keys.next('call_0'), made);
});

test('the same id in another conversation is another call', (t) => {
  const key = (...first: readonly string[]): string => new CallKeys(talk(first)).next('call_0');
  t.is(new Set([key('go'), key('go', ''), key('g', 'o'), key('go on')]).size, 4);
});
