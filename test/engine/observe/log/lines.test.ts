import os from 'node:os';
import test from 'ava';
import fc from 'fast-check';
import { maskUrl, textMask } from '../../../../engine/observe/log/mask-text.ts';
import { appLog, recordWriter, serverLog } from '../../../../engine/observe/log/record-writer.ts';

/** Logs that write to a list. */
const logs = () => {
  const lines: string[] = [];
  const maskText = textMask(() => []);
  const writer = recordWriter({ write: (line) => lines.push(line) }, maskText, { enabled: true, level: 'info' });
  return { lines, server: serverLog(writer, maskText), app: appLog(writer, maskText) };
};

/** Texts with all that JSON has to escape, in which masks find nothing. */
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.string({
    unit: fc.constantFrom('"', '\\', '\n', '\u0000', '\u007f', '\u2028', '\ud800', 'é', '{', ','),
    maxLength: 9,
  }),
);

/** The object that a line stands for, without its time; each line is one. */
const only = (lines: readonly string[]): unknown => {
  const [line = '', ...others] = lines;
  if (others.length > 0 || line.indexOf('\n') !== line.length - 1) throw new Error(`Not one line: ${lines.join('')}`);
  const { time, ...record } = JSON.parse(line);
  if (!Number.isInteger(time)) throw new Error(`No time: ${line}`);
  return record;
};

/** As JSON has it: without members that are `undefined`. */
const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

const head = { level: 30, pid: process.pid, hostname: os.hostname() };

test('each line of the server log parses to the object that it stands for', (t) => {
  const requests = fc.record({ reqId: fc.nat(), method: text, url: text, remoteAddress: text });
  fc.assert(
    fc.property(requests, (record) => {
      const { lines, server } = logs();
      server.request(record);
      const { reqId: id, method, remoteAddress } = record;
      const url = maskUrl(record.url, (shown) => shown);
      t.deepEqual(only(lines), { ...head, req: { id, method, url, remoteAddress }, msg: 'incoming request' });
    }),
  );
  const completions = fc.record({
    reqId: fc.nat(),
    statusCode: fc.integer({ min: 100, max: 599 }),
    responseTimeMs: fc.double({ min: -1, max: 1e9, noNaN: true }),
    aborted: fc.option(fc.boolean(), { nil: undefined }),
  });
  fc.assert(
    fc.property(completions, ({ aborted, ...record }) => {
      const { lines, server } = logs();
      server.completed({ ...record, ...(aborted !== undefined && { aborted }) });
      const { reqId, statusCode, responseTimeMs } = record;
      const res = { statusCode, responseTime: Math.max(0, Math.round(responseTimeMs)) };
      t.deepEqual(only(lines), { ...head, reqId, res, msg: aborted ? 'request aborted' : 'request completed' });
    }),
  );
});

test('each line of a route parses to the object that it stands for', (t) => {
  const maybe = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: undefined });
  const routes = fc.record({
    requestId: fc.oneof(text, fc.constant(`req_${'0a'.repeat(12)}`)),
    namedClient: maybe(text),
    provider: text,
    model: text,
    client: fc.constantFrom('messages', 'chat', 'responses'),
    requestedModel: maybe(text),
    scenario: text,
    reason: text,
    tokens: maybe(fc.nat()),
    url: text,
    relays: fc.record({ request: fc.boolean(), reply: fc.boolean() }),
    losses: maybe(fc.array(fc.record({ path: text, outcome: text }), { maxLength: 3 })),
  });
  fc.assert(
    fc.property(routes, (route) => {
      const { lines, app } = logs();
      app.routed(route);
      const { requestId, namedClient, client, requestedModel: asked, scenario, reason, tokens, url, relays } = route;
      const { losses, provider, model } = route;
      const members = { requestId, namedClient, client, asked, scenario, reason, tokens, url, relays, losses };
      t.deepEqual(only(lines), asJson({ ...head, ...members, msg: `routed to ${provider},${model}` }));
    }),
  );
});
