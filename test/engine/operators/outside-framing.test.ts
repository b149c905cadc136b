import test from 'ava';
import type { UpstreamAnswer } from '../../support/upstreams/upstream.ts';
import { rig } from './retry/rig.ts';

/** What upstreams say beside the framing of their answers, in each format, to each client, relayed and converted. */

const event = (data: object, name = ''): string => `${name && `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;
const chunk = (delta: object, more: object = {}): string =>
  event({
    id: 'c1',
    object: 'chat.completion.chunk',
    created: 7,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: null, ...more }],
  });
const typed = (data: { readonly type: string; readonly [name: string]: unknown }) => event(data, data.type);
const response = { id: 'resp_1', object: 'response', model: 'm', status: 'in_progress', output: [] };
const done = 'data: [DONE]\n\n';

/** Each format: the beginning of an answer, its usual end, and a whole answer. */
const formats = {
  messages: {
    transformer: { name: 'anthropic' },
    begin: [
      typed({
        type: 'message_start',
        message: { id: 'm1', type: 'message', role: 'assistant', model: 'm', content: [], usage: { input_tokens: 1 } },
      }),
      typed({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
      typed({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hello' } }),
    ],
    end: [
      typed({ type: 'content_block_stop', index: 0 }),
      typed({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } }),
      typed({ type: 'message_stop' }),
    ],
    whole: {
      id: 'm1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [{ type: 'text', text: 'hello' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 1, output_tokens: 2 },
    },
    error: { type: 'error', error: { type: 'rate_limit_error', message: 'slow down' } },
  },
  chat: {
    transformer: { name: 'openai' },
    begin: [chunk({ role: 'assistant', content: 'hel' }), chunk({ content: 'lo' })],
    end: [chunk({}, { finish_reason: 'stop' }), done],
    whole: {
      id: 'c1',
      object: 'chat.completion',
      created: 7,
      model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
    },
    error: { error: { code: 429, message: 'slow down' } },
  },
  responses: {
    transformer: { name: 'openai', options: { api: 'responses' } },
    begin: [
      typed({ type: 'response.created', sequence_number: 0, response }),
      typed({
        type: 'response.output_item.added',
        sequence_number: 1,
        output_index: 0,
        item: { type: 'message', id: 'i', role: 'assistant', status: 'in_progress', content: [] },
      }),
      typed({
        type: 'response.output_text.delta',
        sequence_number: 2,
        output_index: 0,
        content_index: 0,
        item_id: 'i',
        delta: 'hello',
      }),
    ],
    end: [typed({ type: 'response.completed', sequence_number: 3, response: { ...response, status: 'completed' } })],
    whole: {
      ...response,
      status: 'completed',
      output: [
        {
          type: 'message',
          id: 'i',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: 'hello', annotations: [] }],
        },
      ],
    },
    error: { error: { code: 'rate_limit_exceeded', message: 'slow down' } },
  },
  gemini: {
    transformer: { name: 'gemini' },
    begin: [event({ candidates: [{ content: { role: 'model', parts: [{ text: 'hello' }] } }] })],
    end: [event({ candidates: [{ content: { parts: [] }, finishReason: 'STOP' }] })],
    whole: { candidates: [{ content: { role: 'model', parts: [{ text: 'hello' }] }, finishReason: 'STOP' }] },
    error: { error: { code: 429, message: 'slow down', status: 'RESOURCE_EXHAUSTED' } },
  },
} as const;

const clients = {
  messages: { path: '/v1/messages', body: {}, limited: /"rate_limit_error"/ },
  chat: { path: '/v1/chat/completions', body: {}, limited: /"rate_limit_exceeded"|"code":"?429|"requests"/ },
  responses: {
    path: '/v1/responses',
    body: { input: 'hi', messages: undefined, max_tokens: undefined },
    limited: /rate_limit_exceeded|"requests"|429/,
  },
} as const;

const stream = { 'content-type': 'text/event-stream' };
const json = { 'content-type': 'application/json' };
/** Pieces with a pause after each keep network chunks apart. */
const apart = (pieces: readonly string[]) => pieces.flatMap((piece) => [piece, 5]);

for (const [client, { path, body, limited }] of Object.entries(clients)) {
  for (const [format, { transformer, begin, end, whole, error }] of Object.entries(formats)) {
    const way = client === format ? 'relayed' : `converted from ${format}`;
    const start = async (t: Parameters<typeof rig>[0]) => {
      let current: UpstreamAnswer = {};
      const { ask } = await rig(t, [() => current], {
        config: {
          RETRY: { attempts: 0 },
          BREAKER: { faults: 1_000_000 },
          transformers: [{ ...transformer, provider: 'a' }],
        },
      });
      return (answer: UpstreamAnswer, streams: boolean) => {
        current = answer;
        return ask({ ...body, stream: streams }, path);
      };
    };

    test(`a ${client} client's stream, ${way}: an error outside the framing is the vendor's own`, async (t) => {
      const got = await start(t);
      const bare = JSON.stringify(error);
      const pretty = JSON.stringify(error, null, 2);
      const words = 'upstream said: rate limit exceeded, slow down';
      const told: readonly (readonly [string, readonly string[], UpstreamAnswer['finish']?])[] = [
        ['bare', [bare]],
        ['bare with lines', [`${bare}\n\n`]],
        ['bare and [DONE]', [`${bare}\n\n${done}`]],
        ['bare, then a cut', [`${bare}\n`], 'close'],
        ['bare without a line, then a cut', [bare], 'close'],
        ['bare while the connection stays', [`${bare}\n\n`], 'stall'],
        ['pretty', [`${pretty}\n`]],
        ['pretty in CRLF, in pieces', [pretty.slice(0, 20), `${pretty.slice(20).replaceAll('\n', '\r\n')}\r\n\r\n`]],
        ['in a list', [`[${bare}]\n\n`]],
        ['in a pretty list', [JSON.stringify([error], null, 2)]],
        ['behind a comma', [`,${bare}\n]`]],
        ['only its first line framed', [`data: ${pretty}\n\n`]],
        ['words', [words]],
        ['words with lines', [`${words}\n\n`]],
      ];
      for (const [title, last, finish] of told) {
        const { status, text } = await got(
          { headers: stream, pieces: apart([...begin, ...last]), ...(finish && { finish }) },
          true,
        );
        t.is(status, 200, title);
        t.regex(text, /slow down/, title);
        t.regex(text, limited, title);
        t.notRegex(text, /message_stop|"response\.completed"|\[DONE\]/, `${title}: ${text}`);
      }
    });

    test(`a ${client} client, ${way}: the first bytes decide, whatever the label says`, async (t) => {
      const got = await start(t);
      const records = [...begin, ...end];
      const text = JSON.stringify(whole);
      const answers: readonly (readonly [string, UpstreamAnswer])[] = [
        ['records as JSON', { headers: json, pieces: apart(records) }],
        ['records without a label', { headers: {}, pieces: apart(records) }],
        ['records behind comments, as JSON', { headers: json, pieces: apart([': PROCESSING\n\n', ...records]) }],
        ['JSON as a stream', { headers: stream, pieces: [text] }],
        ['JSON behind comments', { headers: json, pieces: apart([': PROCES', 'SING\n\n: PROCESSING\n\n', text]) }],
        ['JSON behind comments, as a stream', { headers: stream, pieces: apart([': PROCESSING\n\n', text]) }],
        ['JSON behind a mark', { headers: json, pieces: apart(['\ufeff', text]) }],
        ['empty records', { headers: stream, pieces: apart([`data:\n\n${begin[0]}data: \n\n`, ...records.slice(1)]) }],
      ];
      for (const [title, answer] of answers) {
        for (const streams of [true, false]) {
          const { status, text: body } = await got(answer, streams);
          t.is(status, 200, `${title}, ${streams}: ${body}`);
          t.regex(body, /hel/, `${title}, ${streams}`);
          t.notRegex(body, /PROCESSING\n\n\{|"error":\{/, `${title}, ${streams}: ${body}`);
          if (!streams) t.notThrows(() => JSON.parse(body), title);
          else t.regex(body, /message_stop|"response\.completed"|\[DONE\]/, title);
        }
      }
      const refused: readonly (readonly [string, UpstreamAnswer])[] = [
        ['an error as a stream', { headers: stream, pieces: [JSON.stringify(error, null, 2)] }],
        ['an error in a list', { headers: json, pieces: [JSON.stringify([error])] }],
        ['an error behind comments', { headers: json, pieces: [`: PROCESSING\n\n${JSON.stringify(error)}`] }],
        ['an error and [DONE]', { headers: stream, pieces: [`${JSON.stringify(error)}\n\n${done}`] }],
      ];
      for (const [title, answer] of refused) {
        for (const streams of [true, false]) {
          const { status, text: body } = await got(answer, streams);
          t.is(status, 429, `${title}, ${streams}: ${body}`);
          t.regex(body, /slow down/, title);
        }
      }
    });
  }
}

const call = (piece: object): string => chunk({ tool_calls: [piece] });
const named = { index: 0, id: 'x', type: 'function', function: { name: 'f', arguments: '{"a"' } };
const rest = { index: 0, function: { arguments: ':1}' } };

const failed = { finish_reason: 'stop', native_finish_reason: 'MALFORMED_FUNCTION_CALL' };

for (const [client, { path, body }] of Object.entries(clients)) {
  test(`a ${client} client: how a chat answer ends, with and without its finish reason`, async (t) => {
    let current: UpstreamAnswer = {};
    const { ask } = await rig(t, [() => current], {
      config: {
        RETRY: { attempts: 0 },
        BREAKER: { faults: 1_000_000 },
        transformers: [{ name: 'openai', provider: 'a' }],
      },
    });
    const text = formats.chat.begin;
    const good = {
      messages: /"end_turn"/,
      chat: /"finish_reason":"stop"[\s\S]*\[DONE\]/,
      responses: /"response\.completed"/,
    };
    const calls = {
      messages: /"tool_use"/,
      chat: /"finish_reason":"tool_calls"[\s\S]*\[DONE\]/,
      responses: /"completed"/,
    };
    const bad = /event: error|"error":\{|"response\.failed"/;
    const ends: readonly (readonly [string, readonly string[], Readonly<Record<string, RegExp>> | RegExp])[] = [
      ['[DONE] alone ends the turn', [...text, done], good],
      ['[DONE] without its line', [...text, 'data: [DONE]'], good],
      ['[DONE] after a whole call', [call(named), call(rest), done], calls],
      ['[DONE] after text and a call at once', [...text, call(named) + call(rest) + done], calls],
      ['[DONE] within a call', [...text, call(named), done], bad],
      ['[DONE] after words', [...text, `out of memory\n\n${done}`], bad],
      ['no [DONE]', [...text], bad],
      ['a failed call', [...text, chunk({}, failed), done], bad],
      ['a failed call, in lower case', [...text, chunk({}, { ...failed, native_finish_reason: 'error' }), done], bad],
      ['an error as the reason', [...text, chunk({}, { finish_reason: 'error' }), done], bad],
      ['an error as the reason, at once', [...text, chunk({}, { finish_reason: 'error' }) + done], bad],
    ];
    for (const [title, pieces, expected] of ends) {
      current = { headers: stream, pieces: apart(pieces) };
      const got = await ask({ ...body, stream: true }, path);
      t.regex(got.text, expected instanceof RegExp ? expected : (expected[client] ?? /never/), title);
      if (expected === bad)
        t.notRegex(got.text, /message_stop|"response\.completed"|\[DONE\]/, `${title}: ${got.text}`);
      else t.notRegex(got.text, bad, title);
    }
    const whole = { ...formats.chat.whole, choices: [{ ...formats.chat.whole.choices[0], ...failed }] };
    current = { headers: json, pieces: [JSON.stringify(whole)] };
    t.is((await ask({ ...body }, path)).status, 502);
  });
}

test('a fragment without id and name continues the call before it, whatever its index', async (t) => {
  let current: UpstreamAnswer = {};
  const { ask } = await rig(t, [() => current], {
    config: { RETRY: { attempts: 0 }, transformers: [{ name: 'openai', provider: 'a' }] },
  });
  const sloppy = { index: 1, id: null, function: { name: null } };
  const pieces = [
    call({ index: 0, id: 'x', type: 'function', function: { name: 'f', arguments: '' } }),
    call({ ...sloppy, function: { name: null, arguments: '{"a"' } }),
    call({ ...sloppy, function: { name: null, arguments: ':1}' } }),
    call({ index: 2, id: 'y', type: 'function', function: { name: 'g' } }),
    call({ index: 3, function: { arguments: '{"b":2}' } }),
  ];
  current = { headers: stream, pieces: apart([...pieces, chunk({}, { finish_reason: 'tool_calls' }), done]) };
  const { status, text } = await ask();
  t.is(status, 200, text);
  t.like(JSON.parse(text), {
    content: [
      { type: 'tool_use', name: 'f', input: { a: 1 } },
      { type: 'tool_use', name: 'g', input: { b: 2 } },
    ],
    stop_reason: 'tool_use',
  });
});
