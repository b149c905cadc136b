import test from 'ava';
import { concat, NEVER, type Observable, of, throwError } from 'rxjs';
import { newDelivery } from '../../../engine/exchange.ts';
import { type RequestMeter, silentMeter } from '../../../engine/metrics/request-meter.ts';
import type { ModelEvent } from '../../../engine/model/event.ts';
import type { Fault } from '../../../engine/model/fault.ts';
import type { UpstreamProtocol } from '../../../engine/model/protocol.ts';
import type { Usage } from '../../../engine/model/usage.ts';
import { measureEvents, measureReply } from '../../../engine/operators/measure.ts';
import { measureRelayed } from '../../../engine/operators/measure-relayed.ts';
import type { ReplyPart } from '../../../engine/reply-part.ts';
import { chatUpstream, plainDialect } from '../../../protocols/chat/index.ts';
import { messagesUpstream } from '../../../protocols/messages/index.ts';
import { responsesUpstream } from '../../../protocols/responses/index.ts';
import { replyContext } from '../../support/context.ts';
import { decodeRecording, recordingsOf } from '../../support/recordings.ts';

/** A meter that writes down what it is told. */
const noted = () => {
  const told: string[] = [];
  const meter: RequestMeter = {
    ...silentMeter,
    fault: ({ kind }) => told.push(kind),
    usage: (usage) => told.push(JSON.stringify(usage)),
    opened: () => told.push('opened'),
    firstByte: () => told.push('first byte'),
    finished: (status) => told.push(String(status)),
  };
  return { told, meter };
};

const headers = {};
const head: ReplyPart = { type: 'head', status: 200, headers };
const data: ReplyPart = { type: 'data', data: 'x' };
const whole: ReplyPart = { type: 'whole', status: 418, headers, body: '' };

const answers: readonly (readonly [title: string, parts: Observable<ReplyPart>, begun: boolean, told: string])[] = [
  ['a stream', of(head, data), true, 'opened, first byte, 200'],
  ['a stream of keep-alives', of(head, data), false, 'opened, 200'],
  ['a whole answer', of(whole), false, 'first byte, 418'],
  ['a head that a whole answer takes the place of', of(head, whole), false, 'first byte, 418'],
  ['a bug', throwError(() => new Error('bug')), false, '500'],
];
for (const [title, parts, begun, expected] of answers) {
  test(`what the client gets: ${title}`, (t) => {
    const { told, meter } = noted();
    parts.pipe(measureReply(meter, { ...newDelivery(), begun })).subscribe({ error: () => {} });
    t.is(told.join(', '), expected);
  });
}

test('what the client gets: nothing more, since it went', (t) => {
  const { told, meter } = noted();
  concat(of(head, data), NEVER).pipe(measureReply(meter, newDelivery())).subscribe().unsubscribe();
  t.deepEqual(told, ['opened', '499']);
});

test('of events the counts are told, and the fault', (t) => {
  const { told, meter } = noted();
  const fault: Fault = { kind: 'upstream-cut', message: '' };
  const events: readonly ModelEvent[] = [
    { type: 'message-start', id: 'i', model: 'm', usage: { input: 3, output: 1 } },
    { type: 'message-stop', finish: 'end', usage: { output: 9, cacheRead: undefined } },
    { type: 'error', fault },
  ];
  of(events).pipe(measureEvents(meter)).subscribe();
  t.deepEqual(told, ['upstream-cut', '{"input":3,"output":9}']);
});

const wires: readonly (readonly [recordings: string, upstream: UpstreamProtocol])[] = [
  ['anthropic', messagesUpstream],
  ['openai-chat', chatUpstream(plainDialect)],
  ['openai-responses', responsesUpstream],
];

/** Sends bytes through in pieces; what the meter is told. */
const relayed = (upstream: UpstreamProtocol, streamed: boolean, bytes: Uint8Array, pieceBytes: number): Usage => {
  let told: Usage | undefined;
  const pieces: Uint8Array[] = [];
  for (let from = 0; from < bytes.length; from += pieceBytes) pieces.push(bytes.subarray(from, from + pieceBytes));
  const answered = { line: { upstream, format: { name: 'f' } }, context: replyContext(), answer: { streamed } };
  const meter = { ...silentMeter, usage: (usage: Usage) => (told = usage) };
  let through = 0;
  of(...pieces)
    .pipe(measureRelayed(answered, meter))
    .subscribe((chunk) => (through += chunk.length));
  if (through !== bytes.length) throw new Error('bytes were lost');
  return told ?? {};
};

const usageOf = (events: readonly ModelEvent[]): Usage => {
  let usage: Usage = {};
  of(events)
    .pipe(measureEvents({ ...silentMeter, usage: (told) => (usage = told) }))
    .subscribe();
  return usage;
};

for (const [format, upstream] of wires) {
  for (const recording of recordingsOf(format).filter(({ status }) => status === 200)) {
    test(`counts of a relayed answer, from its two ends: ${format}/${recording.name}`, (t) => {
      const expected = usageOf(decodeRecording(recording, upstream, replyContext()));
      for (const pieceBytes of [997, 60_000]) {
        t.deepEqual(relayed(upstream, recording.streamed, recording.bytes, pieceBytes), expected);
      }
    });
  }
}
