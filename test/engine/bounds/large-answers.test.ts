import test, { type ExecutionContext } from 'ava';
import { modelOf, providersAt, type WireName, wantsStream, wireNames, wires } from '../../support/faults/wires.ts';
import { startGateway } from '../../support/gateway.ts';
import { cpuTimeMs } from '../../support/processes/cpu-time.ts';
import { until } from '../../support/until.ts';
import { jsonAnswer, type Script, sseAnswer, startUpstream } from '../../support/upstreams/upstream.ts';

const json = { 'content-type': 'application/json' };
const KiB = 1024;

const rig = async (t: ExecutionContext, script: Script, more: object, path = '/v1/messages') => {
  const upstream = await startUpstream(script);
  t.teardown(upstream.close);
  const gateway = await startGateway({ LOG: false, ...providersAt(() => upstream.url), ...more });
  t.teardown(gateway.stop);
  const ask = async (model: string, stream = false, signal?: AbortSignal) => {
    const messages = [{ role: 'user', content: 'Hello' }];
    const body = JSON.stringify({ model, max_tokens: 9, stream, messages });
    const url = `${gateway.baseUrl}${path}`;
    const answer = await fetch(url, { method: 'POST', headers: json, body, ...(signal && { signal }) });
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  };
  return { upstream, ask };
};

for (const wire of ['chat', 'messages'] as const) {
  test(`${wire}: large answers share one sum of memory, which small ones don't need`, async (t) => {
    const head = JSON.stringify(wires[wire].reply('end')).split('end')[0] ?? '';
    const large = JSON.stringify(wires[wire].reply('x'.repeat(wire === 'chat' ? 200 * KiB : 350 * KiB)));
    let release = (): void => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { upstream, ask } = await rig(
      t,
      (request) => {
        const model = modelOf(request);
        if (model === 'small') return jsonAnswer(wires[wire].reply('ok'));
        if (model === 'record') return sseAnswer([`data: {"x":"${'x'.repeat(700 * KiB)}`], 'stall');
        const rest = large.slice(head.length, -2);
        const pieces = model === 'held' ? [head, rest] : [large];
        return { headers: json, pieces, ...(model === 'held' && { before: released, finish: 'stall' }) };
      },
      {
        LIMITS: { answersBytes: 1024 * KiB },
        BREAKER: { faults: 1 },
        Router: { fallback: { default: [`${wire},small`] } },
      },
    );
    const leaving = new AbortController();
    // Asked again if it was refused itself, since another answer was there first.
    const holding = async (): Promise<void> => {
      while (!leaving.signal.aborted) await ask(`${wire},held`, false, leaving.signal).catch(() => undefined);
    };
    const held = holding();
    await until(async () => (await ask(`${wire},large`)).status === 503);
    const asked = upstream.requests.length;
    const refused = await ask(`${wire},large`);
    t.regex(refused.text, /LIMITS\.answersBytes/);
    t.is(refused.headers.get('retry-after'), '1');
    t.is(upstream.requests.length, asked + 1, 'it is neither retried nor sent to a fallback');
    t.is((await ask(`${wire},small`)).status, 200, 'no breaker counts it, and a small answer has room');
    const cut = await ask(`${wire},record`, true);
    t.regex(cut.text, /LIMITS\.answersBytes/, 'a record that is being collected counts');

    leaving.abort();
    release();
    await held;
    await until(async () => (await ask(`${wire},large`)).status === 200);
    t.is((await ask(`${wire},large`)).status, 200, 'what an ended answer held is given back');
  });
}

const MiB = 1024 * KiB;

/** Beginnings of a text, some of which are reasoning. */
const starts = ['', '  ', '<', '<think', '<think>', ' <think>y</think> ', '<think>y</think><think>', '<b>'];

test('large answers are converted in turn, each in slices, to what a conversion in one piece gives', async (t) => {
  const text = `漢é"\\n😀 ${'x'.repeat(8 * MiB)}`;
  const { ask } = await rig(
    t,
    (request) => {
      switch (modelOf(request)) {
        case 'large':
          return jsonAnswer(wires.chat.reply(text));
        case 'broken':
          return { headers: json, pieces: [JSON.stringify(wires.chat.reply(text)).slice(0, -1)] };
        case 'streamed':
          return sseAnswer([
            `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta: { content: text } }] })}\n\n`,
            `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}\n\n`,
            'data: [DONE]\n\n',
          ]);
        default: {
          const [length, place] = modelOf(request).split('-');
          const start = starts[Number(place)];
          if (start === undefined) return jsonAnswer(wires.chat.reply('ok'));
          return jsonAnswer(wires.chat.reply(start + 'x'.repeat(length === 'long' ? 2 * MiB : 1)));
        }
      }
    },
    {},
  );
  const contentOf = (answer: { readonly text: string }): unknown => JSON.parse(answer.text).content?.[0]?.text;

  const leaving = new AbortController();
  const left = ask('chat,large', false, leaving.signal).catch(() => undefined);
  const large = Promise.all([ask('chat,large'), ask('chat,large')]);
  t.is((await ask('chat,small')).status, 200);
  leaving.abort();
  for (const answer of await large) t.true(contentOf(answer) === text, 'one that leaves gives its turn away');
  await left;
  t.true(contentOf(await ask('chat,streamed')) === text, 'a stream that becomes one reply');

  const shapeOf = async (model: string): Promise<readonly unknown[]> => {
    const { content } = JSON.parse((await ask(model)).text);
    return content.map((block: { readonly type: string; readonly text?: string; readonly thinking?: string }) => [
      block.type,
      (block.text ?? block.thinking ?? '').replace(/x+/, 'x'),
    ]);
  };
  for (const [place, start] of starts.entries())
    t.deepEqual(await shapeOf(`chat,long-${place}`), await shapeOf(`chat,short-${place}`), start);

  const broken = await ask('chat,broken');
  t.is(broken.status, 502);
  t.regex(broken.text, /a body that isn't a JSON object/);
});

const call = (index: number): string => `"id":"c${index}","name":"f"`;

/** The parts of an answer, each a tool call: in one record or whole reply, and in a record each. */
const crowds: Readonly<
  Record<WireName, { readonly whole: (count: number) => string; readonly records: (count: number) => Iterable<string> }>
> = {
  chat: {
    whole: (count) =>
      crowd(
        wires.chat.reply('HERE'),
        '"content":"HERE"',
        `"content":null,"tool_calls":[${list(count, (index) => `{${call(index)},"type":"function","function":{"name":"f","arguments":"{}"}}`)}]`,
      ),
    *records(count) {
      for (const index of Array(count).keys())
        yield `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":${index},"id":"c${index}","function":{"name":"f","arguments":"{}"}}]}}]}\n\n`;
    },
  },
  messages: {
    whole: (count) =>
      crowd(
        wires.messages.reply('HERE'),
        '{"type":"text","text":"HERE"}',
        list(count, (index) => `{"type":"tool_use",${call(index)},"input":{}}`),
      ),
    *records(count) {
      for (const index of Array(count).keys())
        yield `data: {"type":"content_block_start","index":${index},"content_block":{"type":"tool_use",${call(index)},"input":{}}}\n\ndata: {"type":"content_block_stop","index":${index}}\n\n`;
    },
  },
  responses: {
    whole: (count) =>
      crowd(
        { ...wires.responses.reply(''), output: ['HERE'] },
        '"HERE"',
        list(
          count,
          (index) => `{"type":"function_call","id":"f${index}","call_id":"c${index}","name":"f","arguments":"{}"}`,
        ),
      ),
    *records(count) {
      for (const index of Array(count).keys())
        yield `data: {"type":"response.output_item.done","output_index":${index},"item":{"type":"function_call","id":"f${index}","call_id":"c${index}","name":"f","arguments":"{}"}}\n\n`;
    },
  },
  gemini: {
    whole: (count) =>
      crowd(
        wires.gemini.reply('HERE'),
        '{"text":"HERE"}',
        list(count, () => '{"functionCall":{"name":"f","args":{}}}'),
      ),
    *records(count) {
      for (let index = 0; index < count; index += 1)
        yield 'data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{}}}]}}]}\n\n';
    },
  },
};

const list = (count: number, item: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => item(index)).join();
const crowd = (reply: object, place: string, parts: string): string =>
  JSON.stringify(reply).replace(place, () => parts);

/** Neither JSON nor its conversion may take seconds. Far above what it takes, for a busy machine. */
const mostCpuMs = 8_000;

for (const wire of wireNames) {
  test(`${wire}: an answer with too many parts is one clear error`, async (t) => {
    const { ask } = await rig(
      t,
      (request) => {
        const count = modelOf(request) === 'crowd' ? 200_000 : 10_001;
        if (!wantsStream(request)) return { headers: json, pieces: [crowds[wire].whole(count)] };
        if (modelOf(request) === 'crowd') return sseAnswer([`data: ${crowds[wire].whole(count)}\n\n`]);
        return sseAnswer([[...crowds[wire].records(count)].join('')]);
      },
      { RETRY: { attempts: 0 }, BREAKER: { faults: 1_000 } },
      // One that speaks another format, so that its answer is converted.
      wire === 'messages' ? '/v1/chat/completions' : '/v1/messages',
    );
    for (const model of ['crowd', 'many']) {
      for (const stream of [true, false]) {
        const fromMs = cpuTimeMs();
        const { text } = await ask(`${wire},${model}`, stream);
        t.is(
          text.match(/has more than \d+ (tool calls and other parts|objects and lists)/g)?.length,
          1,
          `${model} ${stream}: ${text.slice(-300)}`,
        );
        t.true(cpuTimeMs() - fromMs < mostCpuMs, `${model} ${stream}: ${cpuTimeMs() - fromMs} ms`);
      }
    }
  });
}
