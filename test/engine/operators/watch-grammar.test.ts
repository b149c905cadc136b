import test from 'ava';
import { Subject, takeWhile } from 'rxjs';
import { openGrammarWatch } from '../../../engine/features/grammar-watch/grammar-watch.ts';
import type { Violation } from '../../../engine/model/grammar.ts';
import type { AnswerChunk } from '../../../engine/model/wire/sse-record.ts';
import { watchGrammar } from '../../../engine/operators/watch-grammar.ts';
import { RequestRecords } from '../../../engine/request-record.ts';
import { geminiUpstream } from '../../../protocols/gemini/index.ts';
import { startGateway } from '../../support/gateway.ts';
import { recordStarter, routeTo } from '../../support/request-record.ts';
import { chatReply } from '../../support/upstreams/chat-stream.ts';
import { jsonAnswer, sseAnswer, startUpstream } from '../../support/upstreams/upstream.ts';

const chunk = (delta: object, finish: string | null = null): string => {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices })}\n\n`;
};
/** The first chunk has no role, and content stands behind the finish. */
const odd = [chunk({ content: 'A secret answer' }), chunk({}, 'stop'), chunk({ content: '.' }), 'data: [DONE]\n\n'];

const ask = async (baseUrl: string, path: string, stream: boolean): Promise<string> => {
  const messages = [{ role: 'user', content: 'Hello!' }];
  const response = await fetch(baseUrl + path, {
    method: 'POST',
    body: JSON.stringify({ model: 'p,m', max_tokens: 9, stream, messages }),
  });
  return response.text();
};

const metricsOf = async (baseUrl: string): Promise<readonly string[]> => {
  const text = await (await fetch(`${baseUrl}/metrics`)).text();
  return text.split('\n').filter((line) => line.startsWith('junctor_grammar_violations_total{'));
};

test('what providers break is counted and logged, relayed or converted, and no answer changes', async (t) => {
  const upstream = await startUpstream(({ body }) =>
    JSON.stringify(body).includes('"stream":true')
      ? sseAnswer(odd)
      : jsonAnswer({ ...chatReply('Hi'), created: 'now' }),
  );
  const config = { Providers: [{ name: 'p', baseUrl: `${upstream.url}/v1`, apiKey: 'k', models: ['m'] }] };
  const [off, on] = await Promise.all([startGateway(config), startGateway({ ...config, GRAMMAR: 'watch' })]);
  t.teardown(async () => {
    await Promise.all([off.stop(), on.stop()]);
    await upstream.close();
  });
  const withoutIds = (text: string): string => text.replaceAll(/msg_\w+/g, 'msg');
  for (const [path, stream] of [
    ['/v1/chat/completions', true],
    ['/v1/messages', true],
    ['/v1/chat/completions', false],
  ] as const) {
    t.is(withoutIds(await ask(on.baseUrl, path, stream)), withoutIds(await ask(off.baseUrl, path, stream)), path);
  }
  t.deepEqual(await metricsOf(off.baseUrl), []);
  t.deepEqual(await metricsOf(on.baseUrl), [
    'junctor_grammar_violations_total{provider="p",rule="role"} 2',
    'junctor_grammar_violations_total{provider="p",rule="finish-order"} 2',
    'junctor_grammar_violations_total{provider="p",rule="chunk"} 1',
  ]);
});

test('a reload switches it on and off', async (t) => {
  const upstream = await startUpstream(() => sseAnswer(odd));
  const config = { Providers: [{ name: 'p', baseUrl: `${upstream.url}/v1`, apiKey: 'k', models: ['m'] }] };
  const gateway = await startGateway(config);
  t.teardown(async () => {
    await gateway.stop();
    await upstream.close();
  });
  const counted: number[] = [];
  for (const grammar of ['off', 'watch', 'off'] as const) {
    const body = JSON.stringify({ ...config, GRAMMAR: grammar });
    t.is((await fetch(`${gateway.baseUrl}/api/config`, { method: 'POST', body })).status, 200);
    await ask(gateway.baseUrl, '/v1/messages', true);
    counted.push((await metricsOf(gateway.baseUrl)).filter((line) => line.endsWith('rule="role"} 1')).length);
  }
  t.deepEqual(counted, [0, 1, 1]);
});

test('the log has one line for each rule and provider in ten minutes, with stand-ins for texts', (t) => {
  let nowMs = 0;
  const { listener, metrics } = openGrammarWatch(() => nowMs);
  const records = new RequestRecords();
  records.listen([listener]);
  const lines: object[] = [];
  const begin = recordStarter(t, records);
  const { gateway } = begin().start;
  const log = { ...gateway.log, warn: (_: string, fields: object = {}) => void lines.push(fields) };
  const record = begin({ id: 'r', gateway: { ...gateway, log } });
  routeTo(record, { provider: { name: 'p', models: ['m'] }, model: 'm', scenario: 'default' });
  const violation: Violation = { rule: 'role', record: 3, path: 'choices[0].delta.role', expected: '"assistant"' };
  const violated = (rule: string): void => record.violated({ ...violation, rule }, '{"type":"x","text":"Ada"}');
  for (const rule of ['role', 'role', 'role', 'end']) violated(rule);
  nowMs = 600_000;
  violated('role');
  const line = { requestId: 'r', provider: 'p', model: 'm', record: 3, path: violation.path, expected: '"assistant"' };
  t.deepEqual(lines, [
    { ...line, rule: 'role', bytes: '{"type":"x","text":"Xxx"}' },
    { ...line, rule: 'end', bytes: '{"type":"x","text":"Xxx"}' },
    { ...line, rule: 'role', bytes: '{"type":"x","text":"Xxx"}', others: 2 },
  ]);
  const samples = metrics.flatMap((metric) => [...metric.samples()]);
  t.deepEqual(samples, [
    { labels: ['p', 'role'], value: 4 },
    { labels: ['p', 'end'], value: 1 },
  ]);
});

/** A Gemini answer that is looked at: what reached the client before each violation was said. */
const lookedAt = (streamed: boolean, take: (chunk: AnswerChunk) => boolean = () => true) => {
  const said: string[] = [];
  let passed = 0;
  const source = new Subject<AnswerChunk>();
  const listener = { violated: ({ rule }: Violation) => void said.push(`${rule} after ${passed}`) };
  const watch = watchGrammar({ grammar: 'watch' });
  const subscription = watch?.(
    { plan: { upstream: geminiUpstream() }, listener },
    streamed,
  )(source)
    .pipe(takeWhile(take, true))
    .subscribe({ next: () => (passed += 1), complete: () => (passed += 10), error: () => undefined });
  const give = (text: string): void => source.next(Buffer.from(text));
  return { said, source, give, subscription };
};

const text = '{"candidates":[{"content":{"role":"user","parts":[{"text":"a"}]}}]}';

test('each chunk, and the end, has gone on before it is looked at', (t) => {
  const stream = lookedAt(true);
  stream.give(`data: ${text}\n\nda`);
  stream.give(`ta: ${text}\n\n`);
  stream.source.complete();
  t.deepEqual(stream.said, ['content after 1', 'content after 2', 'end after 12']);
  const whole = lookedAt(false);
  whole.give(text);
  whole.source.complete();
  t.deepEqual(whole.said, ['content after 11', 'end after 11']);
});

test('the chunk that ends an answer is looked at; what follows, and a cut answer, isn’t', (t) => {
  const ended = lookedAt(true, () => false);
  ended.give(`data: ${text}\n\n`);
  ended.give(`data: ${text}\n\n`);
  t.deepEqual(ended.said, ['content after 11']);
  const cut = lookedAt(true);
  cut.source.error(new Error('cut'));
  t.deepEqual(cut.said, []);
});

test('an answer that would need more memory is given up, and what it held is free again', (t) => {
  const piece = 'a'.repeat(500_000);
  const long = lookedAt(true);
  for (let count = 0; count < 3; count += 1) long.give(piece);
  long.give(`\n\ndata: ${text}\n\n`);
  t.deepEqual(long.said, []);
  const many = Array.from({ length: 40 }, () => lookedAt(true));
  for (const { give } of many) give(piece);
  for (const { give } of many) give(`\n\ndata: ${text}\n\n`);
  const lookedOn = many.filter(({ said }) => said.length > 0).length;
  t.true(lookedOn >= 30 && lookedOn < 40, `${lookedOn} of 40 were looked at`);
  for (const { subscription } of many) subscription?.unsubscribe();
  const next = lookedAt(true);
  next.give(`data: ${text}\n\n`);
  t.deepEqual(next.said, ['content after 1']);
});

test('off: there is nothing to call', (t) => t.is(watchGrammar({ grammar: 'off' }), undefined));
