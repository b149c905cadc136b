import test from 'ava';
import { concat, NEVER, type Observable, of, throwError } from 'rxjs';
import { newReplyProgress } from '../../../engine/exchange.ts';
import type { ReplyPart } from '../../../engine/http/endpoint.ts';
import type { ModelEvent } from '../../../engine/model/event.ts';
import type { Fault } from '../../../engine/model/fault.ts';
import type { UpstreamProtocol } from '../../../engine/model/protocol.ts';
import type { Usage } from '../../../engine/model/usage.ts';
import { type Observer, silentObserver } from '../../../engine/observer.ts';
import { measurePassThrough } from '../../../engine/operators/inspect-passthrough.ts';
import { measureEvents, measureReply } from '../../../engine/operators/observe.ts';
import { chatUpstream, plainDialect } from '../../../protocols/chat/index.ts';
import { messagesUpstream } from '../../../protocols/messages/index.ts';
import { responsesUpstream } from '../../../protocols/responses/index.ts';
import { replyContext } from '../../support/context.ts';
import { decodeRecording, recordingsOf } from '../../support/recordings.ts';

/** A meter that writes down what it is told. */
const noted = () => {
  const told: string[] = [];
  const observer: Observer = {
    ...silentObserver,
    fault: ({ kind }) => told.push(kind),
    usage: (usage) => told.push(JSON.stringify(usage)),
    opened: () => told.push('opened'),
    firstByte: () => told.push('first byte'),
    finished: (status) => told.push(String(status)),
  };
  return { told, observer };
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
    const { told, observer } = noted();
    parts.pipe(measureReply(observer, { ...newReplyProgress(), begun })).subscribe({ error: () => {} });
    t.is(told.join(', '), expected);
  });
}

test('what the client gets: nothing more, since it went', (t) => {
  const { told, observer } = noted();
  concat(of(head, data), NEVER).pipe(measureReply(observer, newReplyProgress())).subscribe().unsubscribe();
  t.deepEqual(told, ['opened', '499']);
});

test('of events the counts are told, and the fault', (t) => {
  const { told, observer } = noted();
  const fault: Fault = { kind: 'upstream-cut', message: '' };
  const events: readonly ModelEvent[] = [
    { type: 'message-start', id: 'i', model: 'm', usage: { input: 3, output: 1 } },
    { type: 'message-stop', finish: 'end', usage: { output: 9, cacheRead: undefined } },
    { type: 'error', fault },
  ];
  of(events).pipe(measureEvents(observer)).subscribe();
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
  const answered = { plan: { upstream, format: { name: 'f' } }, context: replyContext(), answer: { streamed } };
  const observer = { ...silentObserver, usage: (usage: Usage) => (told = usage) };
  let through = 0;
  of(...pieces)
    .pipe(measurePassThrough(answered, observer))
    .subscribe((chunk) => (through += chunk.length));
  if (through !== bytes.length) throw new Error('bytes were lost');
  return told ?? {};
};

const usageOf = (events: readonly ModelEvent[]): Usage => {
  let usage: Usage = {};
  of(events)
    .pipe(measureEvents({ ...silentObserver, usage: (told) => (usage = told) }))
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
