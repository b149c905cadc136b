import { Buffer } from 'node:buffer';
import test from 'ava';
import { Observable, type Subscriber } from 'rxjs';
import type { AnswerChunk } from '../../../../engine/model/wire/sse-record.ts';
import { openAnswer } from '../../../../engine/operators/rx/open-answer.ts';

/** An answer whose bytes are sent by the test. */
const answer = () => {
  let to: Subscriber<AnswerChunk> | undefined;
  let isOpen = false;
  const body = new Observable<AnswerChunk>((subscriber) => {
    to = subscriber;
    isOpen = true;
    return () => {
      isOpen = false;
    };
  });
  return {
    body,
    isOpen: () => isOpen,
    send: (text: string) => to?.next(Buffer.from(text)),
    end: () => to?.complete(),
    fail: (error: Error) => to?.error(error),
  };
};

/** What a reader of the opened body sees. */
const reading = () => {
  const seen: string[] = [];
  const read = (body: Observable<AnswerChunk>) =>
    body.subscribe({
      next: (chunk) => seen.push(chunk instanceof Uint8Array ? Buffer.from(chunk).toString() : 'records'),
      error: (error) => seen.push(String(error)),
      complete: () => seen.push('|'),
    });
  return { seen, read };
};

test('what a failed acceptance throws is the error, and nothing more is read', (t) => {
  const { body, send, isOpen } = answer();
  const errors: unknown[] = [];
  const fault = new Error('refused');
  openAnswer(body, true, () => {
    throw fault;
  }).subscribe({ next: () => t.fail(), error: (error) => errors.push(error) });
  send('data: 1\n\n');
  t.deepEqual(errors, [fault]);
  t.false(isOpen());
});

test('one who leaves before the answer begins ends it', (t) => {
  const { body, send, isOpen } = answer();
  const waiting = openAnswer(body, true, () => t.fail()).subscribe();
  send(': a comment\n');
  t.true(isOpen());
  waiting.unsubscribe();
  t.false(isOpen());
});

test('whoever reads the answer ends it: those who waited for it may leave before', (t) => {
  const { body, send, isOpen } = answer();
  const { seen, read } = reading();
  let leave = (): void => t.fail();
  const waiting = openAnswer(body, true, (opened) => read(opened.body)).subscribe((reader) => {
    leave = () => reader.unsubscribe();
  });
  send('data: 1\n\n');
  waiting.unsubscribe();
  send('data: 2\n\n');
  t.deepEqual(seen, ['data: 1\n\n', 'data: 2\n\n']);
  t.true(isOpen());
  leave();
  t.false(isOpen());
});

for (const [title, end, last] of [
  ['its end', (source: ReturnType<typeof answer>) => source.end(), '|'],
  ['its failure', (source: ReturnType<typeof answer>) => source.fail(new Error('cut')), 'Error: cut'],
] as const) {
  test(`the reader gets what came before it read, then ${title}`, (t) => {
    const source = answer();
    const { seen, read } = reading();
    openAnswer(source.body, false, ({ body, streamed }) => ({ body, streamed })).subscribe(({ body, streamed }) => {
      t.false(streamed);
      read(body);
    });
    source.send(' {"a":');
    source.send('1}');
    end(source);
    t.deepEqual(seen, [' {"a":', '1}', last]);
    t.false(source.isOpen());
  });
}
