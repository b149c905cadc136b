import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import type { RollStream } from 'pino-roll';
import { LogWriter, type WritableFile } from '../../../../engine/observe/log/log-writer.ts';
import { until } from '../../../support/until.ts';

/** A stream that keeps what it can't write and tries again when given more, as SonicBoom does. */
class FakeStream extends EventEmitter implements RollStream {
  readonly file = 'fake.log';
  fails: NodeJS.ErrnoException | undefined;
  held = '';
  written: string[] = [];
  ended = false;

  write(bytes: Uint8Array): boolean {
    this.held += Buffer.from(bytes).toString();
    setImmediate(() => this.#finish());
    return true;
  }

  end(): void {
    this.ended = true;
    setImmediate(() => {
      this.#finish();
      this.emit('close');
    });
  }

  destroy(): void {}

  #finish(): void {
    if (this.fails) {
      this.emit('error', this.fails);
      return;
    }
    this.written.push(this.held);
    this.held = '';
    this.emit('drain');
  }
}

const failure = (syscall: string) =>
  Object.assign(new Error(`ENOSPC: no space, ${syscall}`), { code: 'ENOSPC', syscall });

/** A log file over fake streams, one per opening. */
const fakeFile = () => {
  const streams: FakeStream[] = [];
  const troubles: unknown[] = [];
  const lost: number[] = [];
  const synced: string[] = [];
  const state = { openFails: false, inPlace: true };
  const file: WritableFile = {
    name: 'fake.log',
    async open(onError) {
      if (state.openFails) throw failure('open');
      const stream = new FakeStream();
      stream.on('error', (error) => onError(stream, error));
      streams.push(stream);
      return stream;
    },
    inPlace: async () => state.inPlace,
    appendSync: (bytes) => void synced.push(Buffer.from(bytes).toString()),
  };
  const log = new LogWriter(
    file,
    (_, error) => troubles.push(error),
    (count) => lost.push(count),
  );
  const written = () => streams.flatMap((stream) => stream.written).join('');
  return { log, state, streams, troubles, lost, synced, written };
};

test('lines are flushed in batches within a second', async (t) => {
  const { log, streams } = fakeFile();
  log.write('a\n');
  log.write('b\n');
  t.is(streams.length, 0, 'nothing is opened in the caller');
  await until(() => (streams[0]?.written.length ?? 0) > 0);
  t.deepEqual(streams[0]?.written, ['a\nb\n']);
});

test('a failed write is reported, and repeated later', async (t) => {
  const { log, streams, troubles, written } = fakeFile();
  log.write('a\n');
  await log.flush();
  const [stream] = streams;
  if (!stream) return t.fail();
  stream.fails = failure('write');
  log.write('b\n');
  await log.flush();
  log.write('c\n');
  await log.flush();
  t.is(written(), 'a\n');
  t.true(troubles.length > 0);
  stream.fails = undefined;
  await until(() => written().includes('b'));
  await log.flush();
  t.is(written(), 'a\nb\nc\n');
  t.is(streams.length, 1);
});

test('a failed roll opens a new stream and loses nothing', async (t) => {
  const { log, streams, written } = fakeFile();
  log.write('a\n');
  await log.flush();
  streams[0]?.emit('error', failure('open'));
  t.true(streams[0]?.ended);
  log.write('b\n');
  await log.flush();
  t.is(streams.length, 2);
  t.is(written(), 'a\nb\n');
});

test('lines wait for a file that cannot be opened, up to a limit, and the rest is counted', async (t) => {
  const { log, state, troubles, lost, written } = fakeFile();
  state.openFails = true;
  const line = `${'x'.repeat(65_535)}\n`;
  for (let count = 0; count < 10; count += 1) log.write(line);
  await log.flush();
  t.is(troubles.length, 1);
  state.openFails = false;
  await until(() => lost.length > 0);
  t.is(written(), line.repeat(8));
  t.deepEqual(lost, [2]);
});

test('a removed file is created again', async (t) => {
  const { log, state, streams, troubles } = fakeFile();
  log.write('a\n');
  await log.flush();
  state.inPlace = false;
  await sleep(1100);
  log.write('b\n');
  await log.flush();
  t.deepEqual(
    streams.map((stream) => stream.written.filter((text) => text !== '')),
    [['a\n'], ['b\n']],
  );
  t.true(streams[0]?.ended);
  t.is(troubles.length, 1);
});

test('flushSync writes pending lines once', async (t) => {
  const { log, synced, written } = fakeFile();
  log.write('a\n');
  await log.flush();
  log.write('b\n');
  log.flushSync();
  log.flushSync();
  await log.flush();
  t.deepEqual(synced, ['b\n']);
  t.is(written(), 'a\n');
});

test('close writes pending lines; later lines are ignored', async (t) => {
  const { log, streams, written } = fakeFile();
  log.write('a\n');
  await log.close();
  log.write('b\n');
  await log.flush();
  await log.close();
  t.is(written(), 'a\n');
  t.true(streams[0]?.ended);
});

test('close resolves although nothing can be written', async (t) => {
  const { log, streams, state } = fakeFile();
  log.write('a\n');
  await log.flush();
  const [stream] = streams;
  if (!stream) return t.fail();
  stream.fails = failure('write');
  log.write('b\n');
  await log.close();
  const other = fakeFile();
  other.state.openFails = true;
  other.log.write('a\n');
  await other.log.close();
  t.false(state.openFails);
});
