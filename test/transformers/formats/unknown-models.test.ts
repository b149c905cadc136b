import test, { type ExecutionContext } from 'ava';
import { isJsonObject, type JsonObject } from '../../../engine/model/json/json.ts';
import { sseText } from '../../../engine/model/wire/sse.ts';
import type { SseRecord } from '../../../engine/model/wire/sse-record.ts';
import { clientProtocols } from '../../../protocols/index.ts';
import { formats } from '../../../transformers/index.ts';
import { replyContext } from '../../support/context.ts';
import { eventsOf } from '../../support/events.ts';
import { decodeRecording, recordingsOf } from '../../support/upstreams/recordings.ts';
import { type ClientName, formatOf, type Place, sent, upstreamOf } from './rig.ts';

/** An upstream, its newest models that are known, and its recorded answers. */
interface Row {
  readonly format: string;
  readonly place: Place;
  readonly newest: readonly string[];
  readonly recordings: string;
}

const own = 'https://api.openai.com/v1';

const rows: Readonly<Record<string, Row>> = {
  anthropic: {
    format: 'anthropic',
    place: {},
    newest: ['claude-opus-5-5', 'claude-fable-5-2'],
    recordings: 'anthropic',
  },
  "anthropic, at the vendor's own address": {
    format: 'anthropic',
    place: { baseUrl: 'https://api.anthropic.com' },
    newest: ['claude-opus-5-5', 'claude-fable-5-2'],
    recordings: 'anthropic',
  },
  'openai, responses': {
    format: 'openai',
    place: { baseUrl: own },
    newest: ['gpt-6.1-terra'],
    recordings: 'openai-responses',
  },
  'openai, chat': {
    format: 'openai',
    place: { baseUrl: own, options: { api: 'chat' } },
    newest: ['gpt-6.1-terra'],
    recordings: 'openai-chat',
  },
  'another host, chat': {
    format: 'openai',
    place: { baseUrl: 'https://models.example/v1' },
    newest: ['gpt-6.1-terra'],
    recordings: 'openai-chat',
  },
  deepseek: { format: 'deepseek', place: {}, newest: ['deepseek-flash'], recordings: 'deepseek' },
  gemini: { format: 'gemini', place: {}, newest: ['gemini-4-argon'], recordings: 'gemini' },
  openrouter: {
    format: 'openrouter',
    place: {},
    newest: ['anthropic/claude-opus-5.5', 'openai/gpt-6.1-terra'],
    recordings: 'openrouter',
  },
  groq: { format: 'groq', place: {}, newest: ['qwen/qwen3.8-27b'], recordings: 'groq' },
};

const names = [
  'claude-opus-9',
  'anthropic/claude-opus-9',
  'gpt-9',
  'vendor/gpt-9',
  'gemini-9-pro',
  'deepseek-v9',
  'my-deployment',
];

/** Later generations of lines whose older models are known to lack something. */
const laterNames = [
  'claude-fable-10',
  'gpt-30',
  'o9',
  'gemini-10-pro',
  'gemini-30-live',
  'gemma-9-27b',
  'gemma9-9b-it',
  'llama-9-70b',
  'meta-llama/llama-10-scout',
  'mistral-9',
  'kimi-k9',
  'allam-9',
  'compound-9',
  'qwen9-max',
  'deepseek-v10',
  'deepseek-r9',
];

const image = 'iVBORw0KGgo=';
const parameters = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
const schema = { type: 'object', properties: { b: { type: 'number' } } };

/** Bodies that ask for all that a table of models may speak of. */
const asked: readonly (readonly [what: string, client: ClientName, body: JsonObject])[] = [
  ...[
    {},
    { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
    { thinking: { type: 'enabled', budget_tokens: 2_000 } },
    { thinking: { type: 'disabled' } },
    { output_config: { format: { type: 'json_schema', schema } } },
    { temperature: 0.5, top_p: 0.5, top_k: 5, stop_sequences: ['x'] },
    { tool_choice: { type: 'any' } },
    { tool_choice: { type: 'tool', name: 'f' }, thinking: { type: 'adaptive' } },
    { thinking: { type: 'adaptive', display: 'omitted' } },
  ].map((more) => ['a Messages body', 'messages', { ...messagesBody(), ...more }] as const),
  ...[
    {},
    { reasoning_effort: 'high' },
    { reasoning_effort: 'none' },
    { temperature: 0.5, top_p: 0.5, presence_penalty: 1, frequency_penalty: 1, stop: 'x', seed: 1 },
    { tool_choice: 'required' },
    { response_format: { type: 'json_object' } },
    { verbosity: 'low', parallel_tool_calls: false },
  ].map((more) => ['a chat body', 'chat', { ...chatBody(), ...more }] as const),
  ...[
    {},
    { reasoning: { effort: 'high', summary: 'auto' } },
    { reasoning: { effort: 'none' } },
    { temperature: 0.5, top_p: 0.5 },
    { text: { format: { type: 'json_schema', name: 'n', schema, strict: false }, verbosity: 'low' } },
    { tool_choice: 'required' },
  ].map((more) => ['a Responses body', 'responses', { ...responsesBody(), ...more }] as const),
];

function messagesBody(): JsonObject {
  return {
    max_tokens: 20_000,
    system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
    tools: [{ name: 'f', input_schema: parameters }],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is it?', cache_control: { type: 'ephemeral' } },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: image } },
        ],
      },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'f', input: { a: 'b' } }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: 'ok' }] },
    ],
  };
}

function chatBody(): JsonObject {
  return {
    max_completion_tokens: 20_000,
    tools: [{ type: 'function', function: { name: 'f', parameters } }],
    messages: [
      { role: 'system', content: 'Answer in JSON.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is it?' },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${image}` } },
        ],
      },
    ],
  };
}

function responsesBody(): JsonObject {
  return {
    max_output_tokens: 20_000,
    tools: [
      { type: 'function', name: 'f', parameters, strict: false },
      { type: 'custom', name: 'apply_patch', description: 'Patches.' },
    ],
    input: [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'What is it?' },
          { type: 'input_image', image_url: `data:image/png;base64,${image}` },
        ],
      },
    ],
  };
}

/** What is lost of a body, as one list; a refusal counts as a loss of all. */
const lossesOf = (row: Row, client: ClientName, body: JsonObject, model: string): readonly string[] => {
  try {
    return sent(row.format, client, { ...body, model }, row.place).losses;
  } catch (error) {
    // The refusal names the model.
    return [`refused: ${String(error).replace(model, 'the model')}`];
  }
};

for (const [title, row] of Object.entries(rows)) {
  const answers = recordingsOf(row.recordings).filter(({ status }) => status === 200);
  const read = (asks: string) => {
    const upstream = upstreamOf(row.format, asks, 'messages', row.place);
    const context = () => replyContext({ model: asks });
    return answers.map((recording) => {
      const events = decodeRecording(recording, upstream, context());
      return { events, shown: clientProtocols.map(({ protocol }) => eventsShown(protocol, events, context())) };
    });
  };
  let asNewest: readonly ReturnType<typeof read>[] | undefined;

  const losesNothing = (t: ExecutionContext, model: string): void => {
    for (const [what, client, body] of asked) {
      const newest = new Set(row.newest.flatMap((known) => lossesOf(row, client, body, known)));
      // Where the newest can't be asked to reason at all, it matters little what else is said of it.
      const covered = (loss: string): boolean =>
        newest.has(loss) || (newest.has('~reasoning') && loss.slice(1).startsWith('reasoning'));
      const lost = lossesOf(row, client, body, model).filter((loss) => !covered(loss));
      const { messages: _, input: __, tools: ___, ...rest } = body;
      t.deepEqual(lost, [], `${model}: ${what} with ${JSON.stringify(rest)}`);
    }
  };

  test(`${title}: no later generation of a known line loses what the newest known model gets`, (t) => {
    for (const model of laterNames) losesNothing(t, model);
  });

  for (const model of names) {
    test(`${title}: nothing of a request for ${model} is lost that the newest known model gets`, (t) =>
      losesNothing(t, model));

    test(`${title}: an answer of ${model} reads as one of the newest known model`, (t) => {
      asNewest ??= row.newest.map(read);
      const given = read(model);
      t.is(new Set(answers.map(({ streamed }) => streamed)).size, 2, 'a stream and a whole answer are recorded');
      for (const known of asNewest) t.deepEqual(given, known);
    });
  }
}

const eventsShown = (
  protocol: (typeof clientProtocols)[number]['protocol'],
  events: ReturnType<typeof decodeRecording>,
  context: ReturnType<typeof replyContext>,
): string => {
  const running = protocol.encodeStream.start(context);
  const out: SseRecord[] = [];
  for (const event of events) running.step(event, out);
  running.end(out);
  return sseText(out).replaceAll(JSON.stringify(context.model), '"the model"');
};

const pairs: readonly (readonly [row: string, known: string, future: readonly string[]])[] = [
  ['anthropic', 'claude-opus-5-5', ['claude-opus-9', 'vendor/claude-fable-9']],
  ["anthropic, at the vendor's own address", 'claude-opus-5-5', ['claude-opus-9', 'my-deployment']],
  ['openai, responses', 'gpt-6.1-terra', ['gpt-9', 'vendor/gpt-9']],
  ['openai, chat', 'gpt-6.1-terra', ['gpt-9', 'vendor/gpt-9']],
  ['another host, chat', 'gpt-6.1-terra', ['gpt-9', 'vendor/gpt-9', 'openai/gpt-12-mini']],
  ['deepseek', 'deepseek-flash', ['deepseek-v9', 'vendor/deepseek-v9', 'my-deployment']],
  ['gemini', 'gemini-4-argon', ['gemini-9-pro', 'models/gemini-9-pro', 'gemma-9', 'tunedModels/mine', 'my-deployment']],
  ['openrouter', 'anthropic/claude-opus-5.5', ['anthropic/claude-opus-9', '~anthropic/claude-latest']],
  ['openrouter', 'openai/gpt-6.1-terra', ['vendor/gpt-9', 'google/gemini-9-pro', 'my-deployment']],
];

for (const [title, known, future] of pairs) {
  for (const model of future) {
    test(`${title}: a request for ${model} goes out as one for ${known}`, (t) => {
      const row = rows[title];
      if (!row) return t.fail();
      for (const [what, client, body] of asked) {
        // What forces a call is known to be refused by some of the newest alone; to others it goes as it was asked.
        if ('tool_choice' in body) continue;
        // What a client says in the vendor's own words stays as it is for a name that isn't known.
        if (model === 'my-deployment' && client === 'messages') continue;
        const bodyFor = (name: string) => {
          const { model: _, ...rest } = sent(row.format, client, { ...body, model: name }, row.place).body;
          return rest;
        };
        t.deepEqual(bodyFor(model), bodyFor(known), what);
      }
    });
  }
}

test('every format is walked', (t) => {
  // Decision models answer no clients.
  const walked = new Set([...Object.values(rows).map(({ format }) => format), 'decision-models']);
  t.deepEqual([...walked].sort(), [...formats.keys()].sort());
});

test('tags around reasoning are read for every name of a vendor that leaves them in the text', (t) => {
  const chunk = (delta: JsonObject, finish: string | null = null) =>
    `data: ${JSON.stringify({ id: 'i', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  const stream = Buffer.from(
    [
      chunk({ role: 'assistant', content: '<th' }),
      chunk({ content: 'ink>Hm.</think>\n\nYes.' }),
      chunk({}, 'stop'),
      'data: [DONE]\n\n',
    ].join(''),
  );
  for (const model of [...names, 'qwen/qwen3.8-27b', 'openai/gpt-oss-120b']) {
    const events = eventsOf(upstreamOf('groq', model, 'messages').decodeStream, [stream], replyContext({ model }));
    const texts = events.flatMap((event) =>
      event.type === 'thinking-delta' || event.type === 'text-delta' ? [`${event.type} ${event.text}`] : [],
    );
    t.deepEqual(texts, ['thinking-delta Hm.', 'text-delta Yes.'], model);
    const whole = upstreamOf('groq', model, 'messages').decodeReply(
      {
        id: 'i',
        object: 'chat.completion',
        created: 1,
        model,
        choices: [
          { index: 0, message: { role: 'assistant', content: '<think>Hm.</think>Yes.' }, finish_reason: 'stop' },
        ],
      },
      replyContext({ model }),
    );
    t.true(
      whole.some((event) => event.type === 'thinking-delta' && event.text === 'Hm.'),
      model,
    );
  }
});

test('a model that the vendor names with a prefix is the same model', (t) => {
  for (const [format, model] of [
    ['anthropic', 'claude-sonnet-4-5'],
    ['deepseek', 'deepseek-chat'],
    ['groq', 'gpt-oss-120b'],
    ['gemini', 'gemini-2.5-flash'],
    ['openai', 'gpt-4.1'],
    ['openai', 'o3'],
    ['openai', 'gpt-5'],
  ] as const) {
    for (const place of [{}, { baseUrl: own }]) {
      const body = { ...chatBody(), model, reasoning_effort: 'high', temperature: 0.5 };
      const plain = attempt(() => sent(format, 'chat', body, place));
      const prefixed = attempt(() => sent(format, 'chat', { ...body, model: `vendor/${model}` }, place));
      t.deepEqual(prefixed, plain, `${format} ${model}`);
    }
  }
  t.true(isJsonObject(formatOf('openai').options));
});

/** What is sent and lost, but for the model's name; or why nothing is. */
const attempt = (send: () => { readonly body: JsonObject; readonly losses: readonly string[] }): unknown => {
  try {
    const { body, losses } = send();
    const { model: _, ...rest } = body;
    return { rest, losses };
  } catch (error) {
    return String(error).replace(/the model \S+/, 'the model');
  }
};
