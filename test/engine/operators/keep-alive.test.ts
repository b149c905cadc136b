import test from 'ava';
import { delay, lastValueFrom, of, Subject, take, throwError, timer, toArray } from 'rxjs';
import { ignoreElements } from 'rxjs/operators';
import { keepAliveMs } from '../../../engine/config/schema.ts';
import { Exchange, ReplyProgress } from '../../../engine/exchange.ts';
import { dataOf, type ReplyPart } from '../../../engine/http/endpoint.ts';
import { Ticker, type TickListener } from '../../../engine/http/ticker.ts';
import type { ModelEvent } from '../../../engine/model/event.ts';
import type { Running } from '../../../engine/model/machine.ts';
import type { ClientProtocol } from '../../../engine/model/protocol.ts';
import type { SseRecord } from '../../../engine/model/wire/sse-record.ts';
import { keepAlive } from '../../../engine/operators/keep-alive.ts';
import { stages } from '../../../engine/operators/rx/stages.ts';
import { messagesClient } from '../../../protocols/messages/index.ts';
import { responsesClient } from '../../../protocols/responses/index.ts';
import { incomingOf } from '../../support/context.ts';
import { until } from '../../support/until.ts';

const exchange = (streaming: boolean, client: ClientProtocol = messagesClient): Exchange =>
  new Exchange({
    incoming: incomingOf(new Uint8Array()),
    client,
    progress: Object.assign(new ReplyProgress(), { streaming }),
  });

const keptAlive = (asked: Exchange, everyMs: number) => stages(keepAlive(everyMs))(asked);

/** Ticks when the test has its listener tick. */
class TestTicker extends Ticker {
  listener: TickListener | undefined;

  override add(listener: TickListener): void {
    this.listener = listener;
  }
}

const head: ReplyPart = { type: 'head', status: 200, headers: {} };
const word: ReplyPart = { type: 'data', data: 'word' };
const silence = (ms: number) => timer(ms).pipe(ignoreElements());
const brief = (parts: readonly ReplyPart[]): string[] =>
  parts.map((part) => (part.type === 'data' ? String(dataOf(part)) : part.type));
const ping = messagesClient.keepAlive;

test('R2 a streaming client that hears nothing gets a head and keep-alives; the late head is left out', async (t) => {
  const asked = exchange(true);
  const source = new Subject<ReplyPart>();
  const parts: ReplyPart[] = [];
  source.pipe(keptAlive(asked, 40)).subscribe((part) => parts.push(part));
  await until(() => parts.length >= 3);
  source.next(head);
  source.next(word);
  source.complete();
  t.deepEqual(brief(parts).slice(0, 3), ['head', ping, ping]);
  t.is(brief(parts).filter((part) => part === 'head').length, 1);
  t.is(brief(parts).at(-1), 'word');
  t.true(asked.progress.opened);
});

test('R2 each part starts the wait anew', (t) => {
  const ticker = new TestTicker(1_000, () => 0);
  const source = new Subject<ReplyPart>();
  const parts: ReplyPart[] = [];
  source.pipe(stages(keepAlive(1_000, ticker))(exchange(true))).subscribe((part) => parts.push(part));
  const tickAt = (ms: number) => ticker.listener?.tick(ms);
  source.next(head);
  for (let count = 1; count <= 20; count += 1) {
    source.next(word);
    tickAt(count * 999);
  }
  t.deepEqual(brief(parts), ['head', ...Array.from({ length: 20 }, () => 'word')]);
  tickAt(20 * 999 + 999);
  t.is(brief(parts).at(-1), 'word');
  tickAt(20 * 999 + 1_000);
  t.is(brief(parts).at(-1), ping);
});

test('R2 nothing is sent inside a record, nor to a client that doesn’t stream', async (t) => {
  const inside = exchange(true);
  inside.progress.betweenRecords = false;
  const source = of(word).pipe(delay(70));
  t.deepEqual(brief(await lastValueFrom(source.pipe(keptAlive(inside, 20), toArray()))), ['word']);
  t.deepEqual(brief(await lastValueFrom(source.pipe(keptAlive(exchange(false), 20), toArray()))), ['word']);
});

test('an error passes at once, and no timer is left', async (t) => {
  const failing = throwError(() => new Error('broken')).pipe(keptAlive(exchange(true), 5));
  await t.throwsAsync(lastValueFrom(failing), { message: 'broken' });
  const asked = exchange(true);
  of(head).pipe(delay(1_000), keptAlive(asked, 5)).subscribe().unsubscribe();
  await lastValueFrom(timer(30));
  t.false(asked.progress.opened);
});

const beats = (asked: Exchange): Promise<ReplyPart[]> =>
  lastValueFrom(silence(60_000).pipe(keptAlive(asked, 8), take(6), toArray()));

/** A stream that is being converted. */
const inProgress: Running<ModelEvent, SseRecord> = {
  step: () => {},
  end: () => {},
  progress: (out) => out.push({ event: '', data: 'in progress' }),
};

const inProgressText = 'data: in progress\n\n';

test('in a long silence each fourth keep-alive is an event, once the answer has begun', async (t) => {
  const comment = responsesClient.keepAlive;
  const converted = exchange(true, responsesClient);
  Object.assign(converted.progress, {
    opened: true,
    begun: true,
    writing: inProgress,
  });
  t.deepEqual(brief(await beats(converted)), [comment, comment, comment, inProgressText, comment, comment]);

  const record =
    'event: response.created\ndata: {"type":"response.created","sequence_number":0,"response":{"id":"r"}}\n\n';
  const passing = exchange(true, responsesClient);
  const bytes = Buffer.from(record);
  Object.assign(passing.progress, {
    opened: true,
    begun: true,
    relayed: { first: bytes, last: bytes, numbered: bytes },
  });
  t.deepEqual(brief(await beats(passing))[3], record.replaceAll('created', 'in_progress'));

  const silent = exchange(true, responsesClient);
  silent.progress.opened = true;
  t.deepEqual(brief(await beats(silent)), Array(6).fill(comment));
});

test('such an event comes once a minute: Codex gives up after five without one', async (t) => {
  const asked = exchange(true, responsesClient);
  Object.assign(asked.progress, {
    opened: true,
    begun: true,
    writing: inProgress,
  });
  const sent = brief(await beats(asked));
  t.is((sent.indexOf(inProgressText) + 1) * keepAliveMs, 60_000);
});
