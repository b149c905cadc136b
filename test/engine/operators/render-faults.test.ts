import test from 'ava';
import { concat, NEVER, type Observable, of, throwError } from 'rxjs';
import { Exchange, ReplyProgress } from '../../../engine/exchange.ts';
import type { ReplyPart } from '../../../engine/http/endpoint.ts';
import type { RequestListener } from '../../../engine/observe/listener.ts';
import { stages } from '../../../engine/operators/rx/stages.ts';
import { observeReply } from '../../../engine/operators/write-reply.ts';
import { messagesClient } from '../../../protocols/messages/index.ts';
import { incomingOf } from '../../support/context.ts';

/** Notes the calls of a listener. */
const noted = () => {
  const told: string[] = [];
  const listener: RequestListener = {
    opened: () => void told.push('opened'),
    firstByte: () => void told.push('first byte'),
    finished: (status) => void told.push(String(status)),
  };
  return { told, listener };
};

/** What is reported of an answer's parts. */
const observe = (listener: RequestListener, begun = false) => {
  const incoming = incomingOf(new Uint8Array());
  const progress = Object.assign(new ReplyProgress(), { begun });
  return stages(observeReply())(new Exchange({ incoming, client: messagesClient, progress, listener }));
};

const headers = {};
const head: ReplyPart = { type: 'head', status: 200, headers };
const data: ReplyPart = { type: 'data', data: 'x' };
const whole: ReplyPart = { type: 'whole', status: 418, headers, body: '' };

const answers: readonly (readonly [title: string, parts: Observable<ReplyPart>, begun: boolean, told: string])[] = [
  ['a stream', of(head, data, data), true, 'opened, first byte, 200'],
  ['a stream of keep-alives', of(head, data), false, 'opened, 200'],
  ['a whole answer', of(whole), false, 'first byte, 418'],
  ['a head that a whole answer takes the place of', of(head, whole), false, 'first byte, 418'],
  ['a bug', throwError(() => new Error('bug')), false, '500'],
];
for (const [title, parts, begun, expected] of answers) {
  test(`what the client gets: ${title}`, (t) => {
    const { told, listener } = noted();
    parts.pipe(observe(listener, begun)).subscribe({ error: () => {} });
    t.is(told.join(', '), expected);
  });
}

test('what the client gets: nothing more, since it went', (t) => {
  const { told, listener } = noted();
  concat(of(head, data), NEVER).pipe(observe(listener)).subscribe().unsubscribe();
  t.deepEqual(told, ['opened', '499']);
});
