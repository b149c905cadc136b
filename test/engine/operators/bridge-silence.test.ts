import test from 'ava';
import { concat, delay, lastValueFrom, of, throwError, timer, toArray } from 'rxjs';
import { ignoreElements } from 'rxjs/operators';
import { type Exchange, newDelivery } from '../../../engine/exchange.ts';
import { Flow } from '../../../engine/flow.ts';
import { silentMeter } from '../../../engine/metrics/request-meter.ts';
import { bridgeSilence } from '../../../engine/operators/bridge-silence.ts';
import type { ReplyPart } from '../../../engine/reply-part.ts';
import { messagesClient } from '../../../protocols/messages/index.ts';

const exchange = (streaming: boolean): Exchange => ({
  id: 'req_1',
  seed: '00',
  startedAtMs: 0,
  client: messagesClient,
  body: new Uint8Array(),
  clientHeader: () => undefined,
  flow: new Flow(),
  delivery: { ...newDelivery(), streaming },
  meter: silentMeter,
});

const head: ReplyPart = { type: 'head', status: 200, headers: {} };
const word: ReplyPart = { type: 'data', data: 'word' };
const silence = (ms: number) => timer(ms).pipe(ignoreElements());
const brief = (parts: readonly ReplyPart[]): string[] =>
  parts.map((part) => (part.type === 'data' ? String(part.data) : part.type));
const ping = messagesClient.keepAlive;

test('R2 a streaming client that hears nothing gets a head and keep-alives; the late head is left out', async (t) => {
  const asked = exchange(true);
  const source = concat(silence(90), of(head, word));
  const parts = await lastValueFrom(source.pipe(bridgeSilence(asked, 40), toArray()));
  t.deepEqual(brief(parts), ['head', ping, ping, 'word']);
  t.true(asked.delivery.opened);
});

test('R2 each part starts the wait anew', async (t) => {
  const source = concat(of(head, word), silence(30), of(word), silence(30), of(word));
  const parts = await lastValueFrom(source.pipe(bridgeSilence(exchange(true), 50), toArray()));
  t.deepEqual(brief(parts), ['head', 'word', 'word', 'word']);
});

test('R2 nothing is sent inside a record, nor to a client that doesn’t stream', async (t) => {
  const inside = exchange(true);
  inside.delivery.betweenRecords = false;
  const source = of(word).pipe(delay(70));
  t.deepEqual(brief(await lastValueFrom(source.pipe(bridgeSilence(inside, 20), toArray()))), ['word']);
  t.deepEqual(brief(await lastValueFrom(source.pipe(bridgeSilence(exchange(false), 20), toArray()))), ['word']);
});

test('an error passes at once, and no timer is left', async (t) => {
  const failing = throwError(() => new Error('broken')).pipe(bridgeSilence(exchange(true), 5));
  await t.throwsAsync(lastValueFrom(failing), { message: 'broken' });
  const asked = exchange(true);
  of(head).pipe(delay(1_000), bridgeSilence(asked, 5)).subscribe().unsubscribe();
  await lastValueFrom(timer(30));
  t.false(asked.delivery.opened);
});
