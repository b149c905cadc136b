import test from 'ava';
import { type Grammar, sayViolation, violationsIn } from '../../engine/model/grammar.ts';
import type { SseRecord } from '../../engine/model/wire/sse-record.ts';
import { chatClient } from '../../protocols/chat/index.ts';
import { messagesClient } from '../../protocols/messages/index.ts';
import { responsesClient } from '../../protocols/responses/index.ts';
import { formats } from '../../transformers/index.ts';
import { violationsOf } from '../support/readers/check.ts';
import { recordingsOf } from '../support/upstreams/recordings.ts';
import { chatVendor } from '../support/vendors/chat.ts';
import { deepseekVendor } from '../support/vendors/deepseek.ts';
import { geminiVendor } from '../support/vendors/gemini.ts';
import { groqVendor } from '../support/vendors/groq.ts';
import { messagesVendor } from '../support/vendors/messages.ts';
import { openrouterVendor } from '../support/vendors/openrouter.ts';
import { responsesVendor } from '../support/vendors/responses.ts';
import { hello, type Scripted, thought } from '../support/vendors/script.ts';
import type { VendorAnswer } from '../support/vendors/vendor.ts';

const grammarOf = (name: string, baseUrl: string, options: Readonly<Record<string, unknown>> = {}): Grammar => {
  const row = formats.get(name);
  if (!row) throw new Error(`no format ${name}`);
  return row.protocol({ baseUrl: new URL(baseUrl), options, model: 'm', relays: undefined }).grammar;
};

const openai = 'https://api.openai.com/v1';
const other = 'https://model.example/v1';

/** The recorded vendors; those of other servers than the vendor's have names that say so. */
const vendors: readonly (readonly [folder: string, vendor: Grammar, others?: Grammar])[] = [
  ['anthropic', grammarOf('anthropic', 'https://api.anthropic.com')],
  ['openai-chat', grammarOf('openai', openai, { api: 'chat' }), grammarOf('openai', other, { api: 'chat' })],
  [
    'openai-responses',
    grammarOf('openai', openai, { api: 'responses' }),
    grammarOf('openai', other, { api: 'responses' }),
  ],
  ['deepseek', grammarOf('deepseek', 'https://api.deepseek.com')],
  ['groq', grammarOf('groq', 'https://api.groq.com')],
  ['openrouter', grammarOf('openrouter', 'https://openrouter.ai/api/v1')],
  ['gemini', grammarOf('gemini', 'https://generativelanguage.googleapis.com')],
];

/** Recordings that break a rule which their servers keep otherwise, or kept since. */
const broken: Readonly<Record<string, readonly string[]>> = {
  // Azure leaves out the message of an answer that its filter has stopped.
  'openai-chat/json-content-filter-azure': ['delta', 'role'],
  // Of a time before events had numbers.
  'openai-responses/tool-single': ['numbers'],
  // It gives reasoning another id at the end.
  'openai-responses/compat-openrouter-raw-cot': ['output'],
};

for (const [folder, vendor, others = vendor] of vendors) {
  test(`what vendors send keeps the rules that bind them: ${folder}`, (t) => {
    for (const recording of recordingsOf(folder)) {
      const isOthers = /compat|azure|moderation/.test(recording.name);
      const found = violationsIn(isOthers ? others : vendor, recording.bytes);
      const expected = broken[`${folder}/${recording.name}`] ?? [];
      t.deepEqual(
        [...new Set(found.map(({ rule }) => rule))],
        expected,
        `${recording.name}: ${found.map(sayViolation)}`,
      );
    }
  });
}

/** A simulated vendor reads what it is sent, so any body may stand for its own. */
const simulated: Readonly<
  Record<string, readonly [answer: (body: never, url: string, script: () => Scripted) => VendorAnswer, Grammar]>
> = {
  messages: [messagesVendor.answer, grammarOf('anthropic', 'https://api.anthropic.com')],
  chat: [chatVendor.answer, grammarOf('openai', openai, { api: 'chat' })],
  responses: [responsesVendor.answer, grammarOf('openai', openai, { api: 'responses' })],
  deepseek: [deepseekVendor.answer, grammarOf('deepseek', 'https://api.deepseek.com')],
  groq: [groqVendor.answer, grammarOf('groq', 'https://api.groq.com')],
  openrouter: [openrouterVendor.answer, grammarOf('openrouter', 'https://openrouter.ai/api/v1')],
  gemini: [geminiVendor.answer, grammarOf('gemini', 'https://generativelanguage.googleapis.com')],
};

const scripts: readonly Scripted[] = [
  { text: hello },
  { thinking: thought, text: hello },
  { thinking: thought, calls: [1, 2].map((count) => ({ id: `call_${count}`, name: 'f', input: { count } })) },
];

for (const [name, [answer, grammar]] of Object.entries(simulated)) {
  test(`what simulated vendors answer keeps their rules: ${name}`, (t) => {
    for (const script of scripts) {
      for (const stream of [true, false]) {
        const asked = {
          model: 'm',
          stream,
          stream_options: { include_usage: true },
          messages: [],
          contents: [],
          input: [],
        };
        const method = stream ? 'streamGenerateContent?alt=sse' : 'generateContent';
        const given = answer(asked as never, `/v1beta/models/gemini-3-flash-preview:${method}`, () => script);
        const text = given.type === 'json' ? given.text : given.pieces.join('');
        t.deepEqual(violationsIn(grammar, Buffer.from(text)).map(sayViolation), [], text);
      }
    }
  });
}

const record = (data: object, event = ''): SseRecord => ({ event, data: JSON.stringify(data) });
const delta = (index: number, text: string): SseRecord => {
  const data = { type: 'content_block_delta', index, delta: { type: 'text_delta', text } };
  return record(data, 'content_block_delta');
};

test('a violation has its rule, its place, and what was expected', (t) => {
  const chunk = (more: object) => ({
    object: 'chat.completion.chunk',
    id: 'i',
    model: 'm',
    created: 1,
    choices: [more],
  });
  const [found] = violationsOf(chatClient.grammar, [
    record(chunk({ index: 0, delta: { role: 'assistant', tool_calls: [{ index: 1 }] }, finish_reason: null })),
  ]).filter(({ rule }) => rule === 'call-order');
  t.deepEqual(found, {
    rule: 'call-order',
    record: 1,
    path: 'choices[0].delta.tool_calls[0].index',
    expected: '0',
    got: '1',
  });
  t.is(found && sayViolation(found), 'record 1: choices[0].delta.tool_calls[0].index: expected 0, got 1 (call-order)');
  t.is(messagesClient.grammar.reply(5).map(sayViolation).join(), 'the reply: expected a JSON object, got 5 (json)');
});

test('an answer has at most 50 violations, and only so many blocks are followed', (t) => {
  const { grammar } = messagesClient;
  t.is(
    violationsOf(
      grammar,
      Array.from({ length: 1_000 }, () => delta(0, 'a')),
    ).length,
    50,
  );
  const blocks = Array.from({ length: 3_000 }, (_, index) => [
    record({ type: 'content_block_start', index, content_block: { type: 'text', text: '' } }, 'content_block_start'),
    delta(index, 'a'),
    record({ type: 'content_block_stop', index }, 'content_block_stop'),
  ]).flat();
  const rules = violationsOf(grammar, blocks).map(({ rule }) => rule);
  t.deepEqual([...new Set(rules)], ['order'], 'the end is no longer looked for');
});

test('messages over a WebSocket are judged as the events that they are', (t) => {
  const error = { type: 'error', sequence_number: 0, error: { type: 'server_error', message: 'm', param: null } };
  const rules = violationsOf(responsesClient.grammar, [record(error, 'error')]).map(({ rule }) => rule);
  t.deepEqual(rules, ['failure']);
});
