import test from 'ava';
import fc from 'fast-check';
import { lastValueFrom, of, toArray } from 'rxjs';
import { eventProblem } from '../../../../engine/model/checked/check-event.ts';
import { requestProblem } from '../../../../engine/model/checked/check-request.ts';
import { copyOf, frozen } from '../../../../engine/model/checked/copy.ts';
import { recordStageLosses } from '../../../../engine/model/checked/record-stage-losses.ts';
import { FaultError } from '../../../../engine/model/fault.ts';
import { parseJson, writeJson } from '../../../../engine/model/json/json.ts';
import { Losses } from '../../../../engine/model/loss.ts';
import type { ModelRequest } from '../../../../engine/model/request.ts';
import { validateOrder } from '../../../../engine/operators/validate-order.ts';
import { clientProtocols } from '../../../../protocols/index.ts';
import { responsesUpstream } from '../../../../protocols/responses/index.ts';
import { formats } from '../../../../transformers/index.ts';
import { chatBody } from '../../../support/arbitraries/chat.ts';
import { messagesBody } from '../../../support/arbitraries/messages.ts';
import { responsesBody } from '../../../support/arbitraries/responses.ts';
import { plainRequest, replyContext } from '../../../support/context.ts';
import { decodeRecording, recordingsOf } from '../../../support/upstreams/recordings.ts';

const wires: Readonly<Record<string, string>> = { 'openai-chat': 'chat' };
const bodies = { messages: messagesBody, chat: chatBody, responses: responsesBody };

for (const { protocol } of clientProtocols) {
  test(`any request of ${protocol.wire} fits, and so does its copy, which loses nothing`, (t) => {
    fc.assert(
      fc.property(bodies[protocol.wire], (body) => {
        let request: ModelRequest;
        try {
          request = protocol.decodeRequest(body);
        } catch (error) {
          if (error instanceof FaultError) return;
          throw error;
        }
        const copy = copyOf(request);
        const losses = new Losses('test');
        recordStageLosses(request, copy, losses);
        t.is(requestProblem(request), undefined);
        t.is(requestProblem(copy), undefined);
        t.deepEqual(copy, request);
        t.deepEqual(losses.list, []);
      }),
      { numRuns: 300 },
    );
  });
}

for (const name of ['anthropic', 'deepseek', 'gemini', 'groq', 'openai-chat', 'openrouter']) {
  test(`all recorded answers of ${name} fit, in their order`, async (t) => {
    for (const recording of recordingsOf(name)) {
      for (const format of formats.values()) {
        const upstream = format.protocol({
          baseUrl: new URL('https://model.example/v1'),
          options: {},
          model: 'm',
          relays: undefined,
        });
        if (format.name !== name && upstream.wire !== wires[name]) continue;
        const events = decodeRecording(recording, upstream, replyContext());
        t.deepEqual(events.map(eventProblem).filter(Boolean), [], recording.name);
        const keep = validateOrder(replyContext(), (message) => ({ kind: 'stage-failed', message }));
        const out = (await lastValueFrom(of(events).pipe(keep, toArray()))).flat();
        t.false(
          out.some((event) => event.type === 'error' && event.fault.kind === 'stage-failed'),
          `${format.name} ${recording.name}: ${JSON.stringify(out.at(-1))}`,
        );
        break;
      }
    }
  });
}

test('all recorded answers of the Responses API fit', (t) => {
  for (const recording of recordingsOf('openai-responses')) {
    const events = decodeRecording(recording, responsesUpstream, replyContext());
    t.deepEqual(events.map(eventProblem).filter(Boolean), [], recording.name);
  }
});

const user = (part: unknown): object => ({ turns: [{ role: 'user', parts: [part] }] });
const circle: Record<string, unknown> = {};
circle.self = circle;
const parts: unknown[] = [];
parts.push({ type: 'tool-result', id: 'a', content: parts });

const badRequests: readonly (readonly [change: unknown, problem: string])[] = [
  [undefined, ' must be object'],
  [{ turns: [{ role: 'user', content: 'hi' }] }, 'turns[0].parts is required'],
  [{ turns: [{ role: 'user' }] }, 'turns[0].parts is required'],
  [{ turns: [{ role: 'user', parts: 'hi' }] }, 'turns[0].parts must be array'],
  [{ turns: [{ role: 'tool', parts: [] }] }, 'turns[0].role must be one of "user", "assistant", "system"'],
  [{ turns: 'hi' }, 'turns must be array'],
  [{ turns: [undefined] }, 'turns[0] must be object'],
  [user('hi'), 'turns[0].parts[0] must be object'],
  [user(undefined), 'turns[0].parts[0] must be object'],
  [user({ type: 'text', text: 5 }), 'turns[0].parts[0].text must be string'],
  [user({ type: 'text' }), 'turns[0].parts[0].text is required'],
  [user({ type: 'input_text', text: 'a' }), 'turns[0].parts[0].type must be one of "text", "image", "document"'],
  [user({ text: 'a' }), 'turns[0].parts[0].type is required'],
  [user({ type: 'text', text: 'a', cache_control: {} }), 'turns[0].parts[0].cache_control is unknown'],
  [user({ type: 'image' }), 'turns[0].parts[0].source is required'],
  [user({ type: 'image', source: { type: 'base64', data: 'a' } }), 'turns[0].parts[0].source.kind is required'],
  [user({ type: 'image', source: { kind: 'url' } }), 'turns[0].parts[0].source.url is required'],
  [user({ type: 'tool-result', id: 'a', content: 'ok' }), 'turns[0].parts[0].content must be array'],
  [user({ type: 'tool-result', content: [] }), 'turns[0].parts[0].id is required'],
  [user({ type: 'tool-call', id: 'a', name: '', input: {} }), 'turns[0].parts[0].name must not be blank'],
  [user({ type: 'tool-call', id: 'a', name: 'b', input: circle }), 'turns[0].parts[0].input must be'],
  [{ turns: [{ role: 'user', parts }] }, 'is nested too deeply, or in a circle'],
  [{ system: 'be kind' }, 'system must be array'],
  [{ system: [{ type: 'image', source: { kind: 'url', url: 'u' } }] }, 'system[0].type must be one of "text"'],
  [{ tools: [{ type: 'function', function: { name: 'x' } }] }, 'tools[0].name is required'],
  [{ tools: [{ name: 'x', input_schema: {} }] }, 'tools[0].type is required'],
  [{ tools: [{ type: 'function', name: 'x', input_schema: {} }] }, 'tools[0].input_schema is unknown'],
  [{ tools: [{ type: 'function', name: 'x', parameters: circle }] }, 'tools[0].parameters must be JSON'],
  [{ tools: [{ type: 'function', name: 'x', parameters: { at: new Date() } }] }, 'tools[0].parameters must be JSON'],
  [{ toolChoice: 'auto' }, 'toolChoice must be object'],
  [{ toolChoice: { type: 'function', name: 'x' } }, 'toolChoice.type must be one of'],
  [{ temperature: Number.NaN }, 'temperature must be number'],
  [{ maxTokens: '5' }, 'maxTokens must be number'],
  [{ max_tokens: 5 }, 'max_tokens is unknown'],
  [{ stop: 'END' }, 'stop must be array'],
  [{ output: 'json' }, 'output must be object'],
  [{ stream: 1 }, 'stream must be boolean'],
];

for (const [index, [change, expected]] of badRequests.entries()) {
  test(`no request: ${expected} (${index})`, (t) => {
    const problem = requestProblem(typeof change === 'object' ? { ...plainRequest, ...change } : change);
    t.true(`${problem?.path} ${problem?.message}`.includes(expected), `${problem?.path} ${problem?.message}`);
  });
}

const badEvents: readonly (readonly [event: unknown, problem: string])[] = [
  [undefined, ' must be object'],
  ['text', ' must be object'],
  [{ type: 'text' }, 'type must be one of'],
  [{ type: 'text-delta', index: 0 }, 'text is required'],
  [{ type: 'text-delta', text: 'a' }, 'index is required'],
  [{ type: 'text-delta', index: Number.NaN, text: 'a' }, 'index must be integer'],
  [{ type: 'input-delta', index: 0, text: 'a' }, 'json is required'],
  [{ type: 'block-start', index: 0 }, 'block is required'],
  [{ type: 'block-start', index: 0, block: { type: 'tool_use' } }, 'block.type must be one of'],
  [{ type: 'block-start', index: 0, block: { type: 'tool-call', name: 'a' } }, 'block.id is required'],
  [{ type: 'message-stop', finish: 'end' }, 'usage is required'],
  [{ type: 'message-stop', usage: {} }, 'finish is required'],
  [{ type: 'message-stop', finish: 'stop', usage: {} }, 'finish must be one of'],
  [{ type: 'error', message: 'x' }, 'fault is required'],
  [{ type: 'error', fault: { kind: 'nonsense', message: 'x' } }, 'fault.kind must be one of'],
];

for (const [event, expected] of badEvents) {
  test(`no event: ${JSON.stringify(event)}`, (t) => {
    const problem = eventProblem(event);
    t.true(`${problem?.path} ${problem?.message}`.startsWith(expected), `${problem?.path} ${problem?.message}`);
  });
}

test('a copy keeps the digits of long numbers, and can be changed', (t) => {
  const input = parseJson('{"id":12345678901234567890}') ?? null;
  const request = frozen({
    ...plainRequest,
    turns: [{ role: 'assistant', parts: [{ type: 'tool-call', id: 'a', name: 'b', input }] }],
  });
  const copy = copyOf(request);
  Object.assign(copy.turns[0] ?? {}, { role: 'user' });
  t.is(request.turns[0]?.role, 'assistant');
  t.true(writeJson(copy).includes('12345678901234567890'));
  t.is(requestProblem({ ...copy }), undefined);
});

const losesOf = (before: Partial<ModelRequest>, after: Partial<ModelRequest>): readonly string[] => {
  const losses = new Losses('test');
  recordStageLosses({ ...plainRequest, ...before }, { ...plainRequest, ...after }, losses);
  return losses.list.map(({ path }) => path);
};

test('what a stage drops is named, and what it replaces is not', (t) => {
  const one = { type: 'text', text: 'one', at: 'messages[0].content[0]' } as const;
  const two = { type: 'text', text: 'two', at: 'messages[0].content[1]' } as const;
  const image = { type: 'image', source: { kind: 'url', url: 'u' }, at: 'messages[0].content[2]' } as const;
  const turn = { role: 'user', parts: [one, two, image], at: 'messages[0]' } as const;
  const tool = (name: string, index: number) => ({ type: 'function', name, at: `tools[${index}]` }) as const;
  t.deepEqual(losesOf({ turns: [turn] }, { turns: [] }), ['messages[0]']);
  t.deepEqual(losesOf({ turns: [turn] }, { turns: [{ ...turn, parts: [one, two] }] }), ['messages[0].content[2]']);
  t.deepEqual(losesOf({ turns: [turn] }, { turns: [{ role: 'user', parts: [one, image] }] }), [
    'messages[0].content[1]',
  ]);
  const rewritten = { type: 'text', text: 'new' } as const;
  t.deepEqual(losesOf({ turns: [turn] }, { turns: [{ role: 'user', parts: [rewritten, rewritten, image] }] }), []);
  t.deepEqual(losesOf({ turns: [turn] }, { turns: [{ ...turn, parts: [one, two, rewritten] }] }), [
    'messages[0].content[2]',
  ]);
  t.deepEqual(losesOf({ tools: [tool('a', 0), tool('b', 1)] }, { tools: [tool('b', 1)] }), ['tools[0]']);
  t.deepEqual(losesOf({ tools: [tool('a', 0)] }, { tools: [{ type: 'function', name: 'a' }] }), []);
  t.deepEqual(losesOf({ system: [{ ...one, at: 'system' }] }, { system: [] }), ['system']);
});
