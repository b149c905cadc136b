import test from 'ava';
import fc from 'fast-check';
import type { ModelEvent } from '../../engine/model/event.ts';
import { Losses } from '../../engine/model/loss.ts';
import type { Reasoning } from '../../engine/model/request.ts';
import { ToolNames } from '../../engine/model/wire/tool-names.ts';
import { chatUpstream, plainDialect, thinkingSwitch } from '../../protocols/chat/index.ts';
import { reasoning } from '../../transformers/reasoning.ts';
import { replyContext } from '../support/context.ts';
import { decodeRecording, recordingsOf } from '../support/upstreams/recordings.ts';
import { answer, type Block, brief, notes, recut, requestWith, stageOf, through } from './stage-rig.ts';

const on = stageOf(reasoning);
const off = stageOf(reasoning, { enable: false });
const tagged = stageOf(reasoning, { tag: 'think' });
const stripped = stageOf(reasoning, { enable: false, tag: 'think' });

const enabled = { enable_thinking: true, thinking: { type: 'enabled' } };
const disabled = { enable_thinking: false, thinking: { type: 'disabled' } };

const asked: readonly (readonly [string, Reasoning | undefined, object])[] = [
  ['nothing', undefined, {}],
  ['on', { mode: 'on' }, enabled],
  ['a budget', { mode: 'on', budget: 2_000 }, { ...enabled, thinking: { type: 'enabled', budget_tokens: 2_000 } }],
  ['an effort', { effort: 'high' }, { ...enabled, reasoning_effort: 'high' }],
  ['no effort', { effort: 'none' }, disabled],
  ['off', { mode: 'off' }, disabled],
  ['no budget', { budget: 0 }, disabled],
  ['as the model sees fit', { mode: 'adaptive' }, {}],
  ['as it sees fit, with an effort', { mode: 'adaptive', effort: 'low' }, { ...enabled, reasoning_effort: 'low' }],
];
for (const [title, wanted, expected] of asked) {
  test(`asked for ${title}: the switches in a body for an unknown server`, (t) => {
    const losses = new Losses('reasoning');
    const request = requestWith({ reasoning: wanted });
    const body = chatUpstream(plainDialect).encodeRequest(on.request?.(request, losses) ?? request, {
      names: new ToolNames(),
      losses,
      replyIsRelayed: false,
    });
    const { model: _, messages: __, stream: ___, stream_options: ____, ...rest } = body;
    t.deepEqual(rest as unknown, expected);
    t.deepEqual(notes(losses), []);
  });

  test(`asked for ${title}: turned off by the configuration`, (t) => {
    const losses = new Losses('reasoning');
    const request = off.request?.(requestWith({ reasoning: wanted }), losses);
    t.deepEqual(request?.reasoning, { mode: 'off', providerMembers: disabled });
    const lost = 'enable_thinking' in expected && expected.enable_thinking === true;
    t.deepEqual(notes(losses), lost ? ['reasoning: turned off by the configuration'] : []);
  });
}

test('members of the client’s own stay, but for those that the configuration overrules', (t) => {
  const losses = new Losses('reasoning');
  const fields = { enable_thinking: true, top_a: 1, thinking: { type: 'enabled', clear: true } };
  const request = requestWith({ extra: { wire: 'chat', at: '', fields } });
  const body = chatUpstream(plainDialect).encodeRequest(off.request?.(request, losses) ?? request, {
    names: new ToolNames(),
    losses,
    replyIsRelayed: false,
  });
  t.like(body, { enable_thinking: false, top_a: 1, thinking: { type: 'disabled', clear: true } });
  t.deepEqual(notes(losses), ['enable_thinking: ']);
});

test('a known vendor gets its own fields', (t) => {
  const dialect = { ...plainDialect, reasoning: { ...thinkingSwitch, efforts: { high: 'high' } } } as const;
  const losses = new Losses('reasoning');
  const request = requestWith({ reasoning: { effort: 'high' } });
  const body = chatUpstream(dialect).encodeRequest(on.request?.(request, losses) ?? request, {
    names: new ToolNames(),
    losses,
    replyIsRelayed: false,
  });
  t.like(body, { thinking: { type: 'enabled' }, reasoning_effort: 'high' });
  t.false('enable_thinking' in body);
});

test('without a tag the answer may pass untouched; with one, or without reasoning, it can’t', (t) => {
  t.is(on.events, undefined);
  t.truthy(off.events);
  t.truthy(tagged.events);
});

test('options', (t) => {
  for (const options of [{ tag: '<think>' }, { tag: '' }, { tag: 5 }, { enable: 'no' }]) {
    t.throws(() => stageOf(reasoning, options), { message: /^options\./ }, JSON.stringify(options));
  }
});

const splits: readonly (readonly [string, readonly Block[], string, string])[] = [
  ['a tag at the beginning', [['text', '<think>hm</think>yes']], 'thinking(hm) text(yes) end', 'text(yes) end'],
  [
    'white space around it',
    [['text', '\n <think>\nhm\n</think>\n\n yes\n']],
    'thinking(hm\n) text(yes\n) end',
    'text(yes\n) end',
  ],
  ['an empty one', [['text', '<think>\n\n</think>\n\nyes']], 'text(yes) end', 'text(yes) end'],
  ['one that is never closed', [['text', '<think>hm</thin']], 'thinking(hm</thin) end', 'end'],
  ['nothing behind it', [['text', '<think>hm</think>\n']], 'thinking(hm) end', 'end'],
  [
    'two, one after the other',
    [['text', '<think>a</think>\n<think>b</think>c']],
    'thinking(a) thinking(b) text(c) end',
    'text(c) end',
  ],
  [
    'a tag further on is text',
    [['text', 'see <think>hm</think>']],
    'text(see <think>hm</think>) end',
    'text(see <think>hm</think>) end',
  ],
  [
    'a tag behind the answer is text',
    [['text', '<think>a</think>b <think>c']],
    'thinking(a) text(b <think>c) end',
    'text(b <think>c) end',
  ],
  [
    'another tag',
    [['text', '<thinking>hm</thinking>']],
    'text(<thinking>hm</thinking>) end',
    'text(<thinking>hm</thinking>) end',
  ],
  ['the beginning of a tag', [['text', ' <thi']], 'text( <thi) end', 'text( <thi) end'],
  ['the beginning of a second one', [['text', '<think>a</think> <']], 'thinking(a) text(<) end', 'text(<) end'],
  [
    'a second one that is empty',
    [['text', '<think>a</think><think>\n</think>b']],
    'thinking(a) text(b) end',
    'text(b) end',
  ],
  [
    'nested angle brackets',
    [['text', '<think>a</b></think</think>c']],
    'thinking(a</b></think) text(c) end',
    'text(c) end',
  ],
  ['no text', [['text']], 'end', 'end'],
  [
    'a call behind it',
    [
      ['text', '<think>a</think>'],
      ['call', 'f', '{}'],
    ],
    'thinking(a) call f({}) end',
    'call f({}) end',
  ],
  [
    'each text block for itself',
    [
      ['text', '<think>a'],
      ['call', 'f', '{}'],
      ['text', '<think>b</think>c'],
    ],
    'thinking(a) call f({}) thinking(b) text(c) end',
    'call f({}) text(c) end',
  ],
  [
    'reasoning that comes apart from the text',
    [
      ['thinking', 'a'],
      ['text', 'b'],
    ],
    'thinking(a) text(b) end',
    'text(b) end',
  ],
  ['a refusal', [['refusal', '<think>no</think>']], 'refusal(<think>no</think>) end', 'refusal(<think>no</think>) end'],
];
for (const [title, blocks, shown, hidden] of splits) {
  test(`the answer: ${title}`, (t) => {
    for (const length of [1000, 1, 2, 3, 5]) {
      const events = recut(answer(blocks), [length]);
      t.is(brief(through(tagged, events)), shown, `pieces of ${length}`);
      t.is(brief(through(stripped, events)), hidden, `pieces of ${length}, reasoning off`);
    }
  });
}

test('a call after removed reasoning keeps its arguments', (t) => {
  const events = answer([
    ['thinking', 'a'],
    ['call', 'f', '{"b":1}'],
  ]);
  t.is(brief(through(off, events)), 'call f({"b":1}) end');
});

test('reasoning that comes with a payload of its own keeps it', (t) => {
  const [start, open, delta, stop, ...rest] = answer([['thinking', 'a']]);
  const sealed: ModelEvent = { type: 'signature-delta', index: 0, signature: { format: 'messages', data: 's' } };
  if (!start || !open || !delta || !stop) return t.fail();
  const events = [start, open, delta, sealed, stop, ...rest];
  t.deepEqual(through(tagged, events), events);
});

test('without a tag, enable: false removes only reasoning', (t) => {
  const signature = { format: 'chat', data: '' };
  const events: ModelEvent[] = [
    { type: 'message-start', id: 'a', model: 'm' },
    { type: 'block-start', index: 0, block: { type: 'thinking' } },
    { type: 'thinking-delta', index: 0, text: 'hm' },
    { type: 'signature-delta', index: 0, signature },
    { type: 'block-stop', index: 0 },
    { type: 'block-start', index: 1, block: { type: 'redacted-thinking', signature } },
    { type: 'block-stop', index: 1 },
    { type: 'block-start', index: 2, block: { type: 'text' } },
    { type: 'text-delta', index: 2, text: '<think>yes' },
    { type: 'block-stop', index: 2 },
    { type: 'message-stop', finish: 'end', usage: { reasoning: 3 } },
  ];
  const out = through(off, events);
  t.is(brief(out), 'text(<think>yes) end');
  t.deepEqual(out.at(-1), events.at(-1));
});

test('reasoning out of a tag ends with an empty payload, as any on this wire without one', (t) => {
  const out = through(tagged, answer([['text', '<think>a</think>b']]));
  t.deepEqual(
    out.slice(1, 5).map((event) => ('signature' in event ? event.signature : event.type)),
    ['block-start', 'thinking-delta', { format: 'chat', data: '' }, 'block-stop'],
  );
});

test('text streams on at once', (t) => {
  const pieces = ['<thi', 'nk>', 'a', 'b<', '/c', '</think>', '\n', 'yes', ' <', 'no'];
  const texts = through(tagged, answer([['text', ...pieces]])).flatMap((event) =>
    'text' in event ? [event.text] : [],
  );
  t.deepEqual(texts, ['a', 'b', '</c', 'yes', ' <', 'no']);
});

test('an error emits held content', (t) => {
  const fault = { kind: 'upstream-cut', message: 'x' } as const;
  const events: ModelEvent[] = [...answer([['text', '<think>a</th']]).slice(0, 3), { type: 'error', fault }];
  const texts = through(tagged, events).flatMap((event) => ('text' in event ? [event.text] : [event.type]));
  t.deepEqual(texts, ['message-start', 'block-start', 'a', '</th', 'error']);
});

test('sources move with their text, and reasoning has none', (t) => {
  const source = (start: number, end: number): ModelEvent => ({
    type: 'citation-delta',
    index: 0,
    citation: { type: 'url', url: 'u', start, end },
  });
  const context = replyContext();
  const all = answer([['text', '<think>a', '</think>\nyes']]);
  const events = [...all.slice(0, 3), source(7, 8), ...all.slice(3, 4), source(17, 20), ...all.slice(4)];
  const out = through(tagged, events, context);
  t.deepEqual(
    out.flatMap((event) => (event.type === 'citation-delta' ? [event.citation] : [])),
    [{ type: 'url', url: 'u', start: 0, end: 3 }],
  );
  t.deepEqual(notes(context.losses), ['reply.annotations: a source of reasoning']);
});

test('any text with tags, cut anywhere, splits as it does whole', (t) => {
  const bits = fc.constantFrom('<', '</', 'think', '>', '<think>', '</think>', ' ', '\n', 'a', '🐢');
  const texts = fc.array(bits, { maxLength: 12 }).map((list) => list.join(''));
  const lengths = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 });
  fc.assert(
    fc.property(fc.array(texts, { minLength: 1, maxLength: 3 }), lengths, (all, sizes) => {
      const events = answer(all.map((text) => (text === '' ? ['call', 'f', '{}'] : ['text', text])));
      for (const stage of [tagged, stripped]) {
        t.is(brief(through(stage, recut(events, sizes))), brief(through(stage, events)));
      }
    }),
    { numRuns: 1_000 },
  );
});

test('a recorded answer with tags: the same text without the reasoning, which stands by itself', (t) => {
  const recording = recordingsOf('groq').find(({ name }) => name === 'think-tags-in-content');
  if (!recording) return t.fail('the recording is missing');
  const events = decodeRecording(recording, chatUpstream(plainDialect), replyContext());
  const [, inside = '', behind = ''] = /^<think>\s*(.*)<\/think>\s*(.*)$/s.exec(recording.expected.text) ?? [];
  t.true(inside.length > 1_000 && behind.length > 1_000);
  t.is(brief(through(tagged, events)), `thinking(${inside}) text(${behind}) end`);
  t.is(brief(through(stripped, events)), `text(${behind}) end`);
});

test('recorded answers without tags are the same with and without the stage', (t) => {
  for (const recording of recordingsOf('openai-chat').filter(({ status }) => status === 200)) {
    const events = decodeRecording(recording, chatUpstream(plainDialect), replyContext());
    t.is(brief(through(tagged, events)), brief(events), recording.name);
  }
});
