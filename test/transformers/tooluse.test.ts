import test from 'ava';
import fc from 'fast-check';
import type { ModelEvent } from '../../engine/model/event.ts';
import { Losses } from '../../engine/model/loss.ts';
import type { ModelRequest, Tool, ToolChoice } from '../../engine/model/request.ts';
import { chatUpstream, plainDialect } from '../../protocols/chat/index.ts';
import { tooluse } from '../../transformers/tooluse.ts';
import { anyText } from '../support/arbitraries/text.ts';
import { replyContext } from '../support/context.ts';
import { decodeRecording, recordingsOf } from '../support/upstreams/recordings.ts';
import { answer, type Block, brief, notes, recut, requestWith, stageOf, through, tool } from './stage-rig.ts';

const stage = stageOf(tooluse);
const ask = (request: ModelRequest): ModelRequest => stage.request?.(request, new Losses('tooluse')) ?? request;
const weather = tool('get_weather');

test('the request gets a reminder, the tool and the duty to call one', (t) => {
  const system = [{ type: 'text' as const, text: 'Be kind.' }];
  const asked = ask(requestWith({ tools: [weather], system }));
  t.deepEqual(asked.toolChoice, { type: 'required' });
  t.deepEqual(asked.tools[0], weather);
  t.like(asked.tools[1], {
    type: 'function',
    name: 'ExitTool',
    parameters: { type: 'object', required: ['response'], properties: { response: { type: 'string' } } },
  });
  t.is(asked.system[0], system[0]);
  t.regex(asked.system[1]?.text ?? '', /^<system-reminder>.*`ExitTool`.*`response`.*<\/system-reminder>$/s);
  t.is(asked.tools.length + asked.system.length, 4);
});

const untouched: readonly (readonly [string, readonly Tool[], ToolChoice | undefined])[] = [
  ['no tools', [], undefined],
  ['hosted tools alone', [{ type: 'hosted', wire: 'messages', kind: 'bash', raw: {} }], undefined],
  ['no call wanted', [weather], { type: 'none' }],
  ['a forced tool', [weather], { type: 'tool', name: 'get_weather' }],
  ['a call of the client’s tools demanded', [weather], { type: 'required' }],
  ['a call of some of them demanded', [weather], { type: 'allowed', required: true, names: ['get_weather'] }],
  ['a choice of one wire format', [weather], { type: 'opaque', wire: 'chat', value: {} }],
];
for (const [title, tools, toolChoice] of untouched) {
  test(`the request stays as it is: ${title}`, (t) => {
    const request = requestWith({ tools, toolChoice });
    t.is(ask(request), request);
  });
}

test('of some allowed tools one must be called, or the exit', (t) => {
  const request = requestWith({
    tools: [weather],
    toolChoice: { type: 'allowed', required: false, names: ['get_weather'] },
  });
  t.deepEqual(ask(request).toolChoice, { type: 'allowed', required: true, names: ['get_weather', 'ExitTool'] });
});

test('a client’s own ExitTool keeps its name and its calls', (t) => {
  const request = requestWith({ tools: [tool('ExitTool'), tool('ExitTool2')] });
  t.deepEqual(
    ask(request).tools.map((one) => 'name' in one && one.name),
    ['ExitTool', 'ExitTool2', 'ExitTool3'],
  );
  const calls = answer(
    [
      ['call', 'ExitTool', '{"a":1}'],
      ['call', 'ExitTool3', '{"response":"hi"}'],
    ],
    'tool-call',
  );
  t.is(brief(through(stage, calls, replyContext({ request }))), 'call ExitTool({"a":1}) text(hi) tool-call');
});

const exit = (...pieces: string[]): Block => ['call', 'ExitTool', ...pieces];

const replies: readonly (readonly [string, readonly Block[], string])[] = [
  ['an exit is text and a regular end', [exit('{"response":"hello"}')], 'text(hello) end'],
  ['text before it stays', [['text', 'Well.'], exit('{"response":"hello"}')], 'text(Well.) text(hello) end'],
  ['another call stays', [['call', 'f', '{}'], exit('{"response":"hi"}')], 'call f({}) text(hi) tool-call'],
  ['two exits', [exit('{"response":"a"}'), exit('{"response":"b"}')], 'text(a) text(b) end'],
  ['no answer, no block', [exit('{"response":""}'), ['call', 'f', '{}']], 'call f({}) tool-call'],
  ['no arguments', [exit()], 'end'],
  ['escapes', [exit('{"response":"a\\n\\"b\\" \\\\ \\/ \\u00e9 \\ud83d\\ude00"}')], 'text(a\n"b" \\ / é 😀) end'],
  [
    'other members before and behind',
    [exit('{"why":{"response":"no"},"n":[1,"]"],"response":"yes","x":"z"}')],
    'text(yes) end',
  ],
  ['quotes in another member', [exit('{"why":"say \\"response\\":\\"no\\"","response":"yes"}')], 'text(yes) end'],
  ['much white space behind it', [exit(`{"response":"yes" }${' '.repeat(600)}`)], 'text(yes) end'],
  ['white space', [exit(' {\n "response" :\t"yes" } \n')], 'text(yes) end'],
  ['another name for the one text', [exit('{"answer":"yes","sure":true}')], 'text(yes) end'],
  ['a bare string', [exit('"yes"')], 'text(yes) end'],
  ['an object in a string', [exit('"{\\"response\\":\\"yes\\"}"')], 'text(yes) end'],
  ['no JSON at all', [exit('The answer is 4.')], 'text(The answer is 4.) end'],
  ['a response that is no text', [exit('{"response":{"a":1}}')], 'text({"a":1}) end'],
  ['several other texts', [exit('{"a":"x","b":"y"}')], 'text({"a":"x","b":"y"}) end'],
  ['single quotes', [exit("{'response': 'it is'}")], 'text(it is) end'],
  ['a key without quotes', [exit('{response: "it is"}')], 'text(it is) end'],
  ['quotes that are not escaped', [exit('{"response":"say "hi", or "bye"."}')], 'text(say "hi", or "bye".) end'],
  ['line feeds that are not escaped', [exit('{"response":"a\nb"}')], 'text(a\nb) end'],
  ['an escape that JSON lacks', [exit('{"response":"C:\\dir"}')], 'text(C:\\dir) end'],
  ['one brace too many', [exit('{"response":"yes"}}')], 'text(yes) end'],
];
for (const [title, blocks, expected] of replies) {
  test(`the answer: ${title}`, (t) => {
    t.is(brief(through(stage, answer(blocks, 'tool-call'))), expected);
    for (const length of [1, 2, 3]) {
      t.is(brief(through(stage, recut(answer(blocks, 'tool-call'), [length]))), expected, `pieces of ${length}`);
    }
  });
}

const cut: readonly (readonly [string, string])[] = [
  ['{"response":"hel', 'text(hel) length'],
  ['{"response":"hel\\u00', 'text(hel) length'],
  ['{"response":"hel\\ud83d', 'text(hel) length'],
  [`{"response":"say "hi", "${'x'.repeat(300)}`, `text(say "hi", "${'x'.repeat(300)}) length`],
  ['{"resp', 'length'],
  ['{"answer":"hel', 'text(hel) length'],
];
for (const [json, expected] of cut) {
  test(`cut at the limit: ${json}`, (t) => t.is(brief(through(stage, answer([exit(json)], 'length'))), expected));
}

test('text goes out as it arrives, never half a character', (t) => {
  const pieces = ['{"resp', 'onse":"', 'one', ' \\', 'n', '\\ud83d', '\\ude', '00 \ud83d', '\ude00', '"', '}'];
  const texts = through(stage, answer([exit(...pieces)], 'tool-call')).flatMap((event) =>
    event.type === 'text-delta' ? [event.text] : [],
  );
  t.deepEqual(texts, ['one', ' ', '\n', '😀 ', '😀']);
});

test('it streams after other members too, whatever their content', (t) => {
  const pieces = ['{"why":"a\\"b","n":[{"response":"no"}],', '"response":"', 'one ', 'two', '"}'];
  const texts = through(stage, answer([exit(...pieces)], 'tool-call')).flatMap((event) =>
    event.type === 'text-delta' ? [event.text] : [],
  );
  t.deepEqual(texts, ['one ', 'two']);
});

test('an error in the middle keeps what came before', (t) => {
  const fault = { kind: 'upstream-cut', message: 'x' } as const;
  const events: ModelEvent[] = [
    ...answer([exit('{"response":"he', 'l')], 'tool-call').slice(0, 4),
    { type: 'error', fault },
  ];
  t.deepEqual(
    through(stage, events).map((event) => (event.type === 'text-delta' ? event.text : event.type)),
    ['message-start', 'block-start', 'he', 'l', 'error'],
  );
});

test('an error before the answer is found keeps what there is', (t) => {
  const fault = { kind: 'upstream-cut', message: 'x' } as const;
  const events: ModelEvent[] = [...answer([exit('{"answer":"he')]).slice(0, 3), { type: 'error', fault }];
  t.deepEqual(
    through(stage, events).map((event) => (event.type === 'text-delta' ? event.text : event.type)),
    ['message-start', 'block-start', 'he', 'error'],
  );
});

test('a payload of the exit call is a loss', (t) => {
  const context = replyContext();
  const events = answer([exit('{"response":"hi"}')], 'tool-call').map(
    (event): ModelEvent =>
      event.type === 'block-start' && event.block.type === 'tool-call'
        ? { ...event, block: { ...event.block, signature: { format: 'gemini', data: 'x' } } }
        : event,
  );
  t.is(brief(through(stage, events, context)), 'text(hi) end');
  t.deepEqual(notes(context.losses), ['reply.signature: ']);
});

test('any text, cut anywhere, written with any escapes', (t) => {
  const escapeAll = (text: string) =>
    text.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const lengths = fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 });
  fc.assert(
    fc.property(
      anyText(),
      fc.boolean(),
      fc.dictionary(fc.string(), fc.jsonValue()),
      lengths,
      (text, escaped, before, sizes) => {
        const { response: _, ...others } = before;
        const head = JSON.stringify(others).slice(0, -1);
        const value = escaped ? `"${escapeAll(text)}"` : JSON.stringify(text);
        const json = `${head}${head === '{' ? '' : ','}"response":${value}}`;
        const events = through(stage, recut(answer([exit(json)], 'tool-call'), sizes));
        t.is(brief(events), text === '' ? 'end' : `text(${text}) end`);
        for (const event of events) if (event.type === 'text-delta') t.notRegex(event.text, /\p{Surrogate}/u);
      },
    ),
    { numRuns: 200 },
  );
});

test('what the client sees of recorded answers is the same with and without the stage', (t) => {
  const upstream = chatUpstream(plainDialect);
  for (const recording of recordingsOf('openai-chat').filter(({ status }) => status === 200)) {
    const events = decodeRecording(recording, upstream, replyContext());
    t.deepEqual(through(stage, events), events, recording.name);
  }
});

test('a recorded call of the exit tool becomes text and the client sees no call', (t) => {
  const recording = recordingsOf('openai-chat').find(({ name }) => name === 'tool-long-args');
  if (!recording) return t.fail('the recording is missing');
  const recorded = decodeRecording(recording, chatUpstream(plainDialect), replyContext());
  const events = recorded.map(
    (event): ModelEvent =>
      event.type === 'block-start' && event.block.type === 'tool-call'
        ? { ...event, block: { ...event.block, name: 'ExitTool' } }
        : event,
  );
  const written = recorded.flatMap((event) => (event.type === 'input-delta' ? event.json : [])).join('');
  t.true(written.length > 100);
  t.is(brief(through(stage, events)), `text(${written}) end`);
});
