import test from 'ava';
import { isJsonObject, parseJson } from '../../../engine/model/json/json.ts';
import { runWhole } from '../../../engine/model/machine.ts';
import { readSseRecords } from '../../../engine/model/wire/sse.ts';
import { replyContext } from '../../support/context.ts';
import type { UpstreamAnswer } from '../../support/upstreams/upstream.ts';
import { rig } from './retry/rig.ts';

const event = (data: object, name = ''): string => `${name && `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;
const chat = (delta: object, finish: string | null = null) =>
  event({ id: 'c', model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] });
const typed = (data: { readonly type: string; readonly [name: string]: unknown }) => event(data, data.type);
const response = { id: 'resp_1', object: 'response', model: 'm', status: 'in_progress', output: [] };

/** Each format: how its answers begin, and how its vendors end them with an error. */
const upstreams = {
  messages: {
    transformer: { name: 'anthropic' },
    begin: [
      typed({
        type: 'message_start',
        message: {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          model: 'm',
          content: [],
          usage: { input_tokens: 1, output_tokens: 1 },
        },
      }),
      typed({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
      typed({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hello' } }),
    ],
    faults: [
      typed({ type: 'error', error: { type: 'api_error', message: 'trouble' } }),
      event({ type: 'error', error: { type: 'api_error', message: 'trouble' } }),
      event({ error: { message: 'trouble' } }),
    ],
  },
  chat: {
    transformer: { name: 'openai' },
    begin: [chat({ role: 'assistant', content: 'hel' }), chat({ content: 'lo' })],
    faults: [
      event({ error: { message: 'trouble' } }),
      event({ error: { message: 'trouble' } }, 'error'),
      event({ code: 1113, msg: 'trouble' }),
      event({ choices: null, base_resp: { status_code: 1000, status_msg: 'trouble' } }),
      chat({}, 'error'),
      chat({}, 'network_error'),
    ],
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
    faults: [
      typed({ type: 'error', sequence_number: 3, code: 'server_error', message: 'trouble', param: null }),
      typed({ type: 'error', sequence_number: 3, error: { message: 'trouble' } }),
      event({ error: { message: 'trouble' } }),
      typed({
        type: 'response.failed',
        sequence_number: 3,
        response: { ...response, status: 'failed', error: { code: 'server_error', message: 'trouble' } },
      }),
    ],
  },
} as const;

/** How an answer breaks: with an error of its vendor, after which the connection ends or stays, or without one. */
const breaks = (
  faults: readonly string[],
): readonly (readonly [title: string, last: readonly string[], finish: UpstreamAnswer['finish']])[] => [
  ...faults.map((fault) => [`an error: ${fault}`, [fault], 'end'] as const),
  ...faults.map((fault) => [`an error and a cut: ${fault}`, [fault], 'close'] as const),
  ...faults.map((fault) => [`an error without its empty line: ${fault}`, [fault.trimEnd()], 'end'] as const),
  [`an error that its connection outlives: ${faults[0]}`, faults.slice(0, 1), 'stall'] as const,
  ['an end', [], 'end'],
  ['a cut', [], 'close'],
  ['a reset', [], 'reset'],
  ['half a record', ['data: {"type":"resp'], 'close'],
];

/** What servers of the Responses format send that has no number, before and in an answer that breaks. */
const unnumbered = [': hello\n\n', event({ type: 'keepalive' }), 'event: ping\ndata: {"type":"ping"}\n\n'];

/** What servers of the Responses format send after an error: some end every stream in the same way, whatever was in it. */
const more = (faults: readonly string[]): ReturnType<typeof breaks> =>
  ['data: [DONE]\n\n', ': bye\n\n', 'data: {"type":"response.late"}\n\n'].flatMap((after) =>
    faults.flatMap((fault) => [
      [`an error and more: ${fault}${after}`, [fault, after], 'end'] as const,
      [`an error and more at once: ${fault}${after}`, [fault + after], 'end'] as const,
    ]),
  );

const clients = {
  messages: { path: '/v1/messages', body: {} },
  chat: { path: '/v1/chat/completions', body: {} },
  responses: { path: '/v1/responses', body: { input: 'hi', messages: undefined, max_tokens: undefined } },
} as const;

/** What ends the stream: its last events' types, or `error` for a chat client's. */
const endOf = (text: string): readonly string[] => {
  const records = runWhole(readSseRecords, replyContext(), [Buffer.from(text)]);
  const types = records.map(({ data }) => {
    const value = parseJson(data);
    if (!isJsonObject(value)) return data;
    return typeof value.type === 'string' ? value.type : value.error !== undefined ? 'error' : 'chunk';
  });
  const at = types.findIndex((type) =>
    /^(?:error|response\.failed|message_stop|response\.completed|\[DONE\])$/.test(type),
  );
  return at < 0 ? [] : types.slice(at);
};

/** What is wrong with a Responses stream's numbers, id and model: from its first event to the gateway's own last ones, they go on. */
const breaksIn = (text: string): readonly string[] => {
  const records = runWhole(readSseRecords, replyContext(), [Buffer.from(text)]);
  const events = records.flatMap(({ data }) => parseJson(data) ?? []).filter(isJsonObject);
  const numbers = events.flatMap(({ sequence_number: number }) => (number === undefined ? [] : [Number(number)]));
  const responses = events.flatMap(({ response: own }) => (isJsonObject(own) ? [own] : []));
  return [
    ...(numbers.some((number, at) => number !== at) ? [`numbers ${numbers.join()}`] : []),
    ...responses.flatMap(({ id, model }) =>
      id === responses[0]?.id && model === responses[0]?.model ? [] : [`id ${id}, model ${model}`],
    ),
  ];
};

for (const [client, { path, body }] of Object.entries(clients)) {
  for (const [format, { transformer, begin, faults }] of Object.entries(upstreams)) {
    const way = client === format ? 'relayed' : `converted from ${format}`;
    test(`a ${client} client's stream, ${way}, ends in its protocol's error, however it breaks`, async (t) => {
      let current: UpstreamAnswer = {};
      const { ask } = await rig(t, [() => current], {
        config: {
          RETRY: { attempts: 0 },
          BREAKER: { faults: 1_000_000 },
          transformers: [{ ...transformer, provider: 'a' }],
        },
      });
      for (const [title, last, finish] of [...breaks(faults), ...(client === 'responses' ? more(faults) : [])]) {
        // Pauses keep network chunks apart.
        current = {
          headers: { 'content-type': 'text/event-stream' },
          pieces: [...begin.flatMap((piece) => [piece, 5]), ...last],
          ...(finish && { finish }),
        };
        const { status, text } = await ask({ ...body, stream: true }, path);
        t.is(status, 200, title);
        t.regex(text, /hel/, title);
        if (title.includes('trouble')) t.regex(text, /trouble/, title);
        const end = endOf(text);
        if (client !== 'responses') t.deepEqual(end, ['error'], `${title}\n${text}`);
        else
          t.true(
            end.join() === 'error,response.failed' || (client === format && end.join() === 'response.failed'),
            `${title}\n${text}`,
          );
        if (client === 'responses') t.deepEqual(breaksIn(text), [], `${title}\n${text}`);
      }
      if (client !== format || client !== 'responses') return;
      for (const extra of unnumbered) {
        for (const finish of ['end', 'close'] as const) {
          current = {
            headers: { 'content-type': 'text/event-stream' },
            pieces: [extra, ...begin, extra].flatMap((piece) => [piece, 5]),
            finish,
          };
          const { text } = await ask({ ...body, stream: true }, path);
          t.deepEqual(endOf(text), ['error', 'response.failed'], text);
          t.deepEqual(breaksIn(text), [], text);
        }
      }
    });
  }
}
