import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { RollStream } from 'pino-roll';
import { appLogPolicy, serverLogPolicy } from '../../../../engine/observe/log/log-policy.ts';
import { RollingFile } from '../../../../engine/observe/log/rolling-file.ts';
import { serverFiles, temporaryHome } from './temporary-home.ts';

const open = async (t: ExecutionContext, file: RollingFile): Promise<RollStream> => {
  const stream = await file.open((_, error) => t.fail(String(error)));
  t.teardown(() => stream.destroy());
  return stream;
};

const write = async (stream: RollStream, text: string): Promise<void> => {
  const drained = once(stream, 'drain');
  stream.write(Buffer.from(text));
  await drained;
};

const close = async (stream: RollStream): Promise<void> => {
  const closed = once(stream, 'close');
  stream.end();
  await closed;
};

/** Writes until the stream has moved on to another file. */
const roll = async (stream: RollStream, text: string): Promise<void> => {
  const ready = once(stream, 'ready');
  stream.write(Buffer.from(text));
  await ready;
};

const smallServer = (home: string) => ({ ...serverLogPolicy(home), maxBytes: 100 });
const line = (letter: string) => `${letter.repeat(119)}\n`;

test('R13 server files have the specified names, roll at their size, and three are kept', async (t) => {
  const home = temporaryHome(t);
  const file = new RollingFile(smallServer(home));
  const stream = await open(t, file);
  for (const letter of ['a', 'b', 'c', 'd', 'e']) await roll(stream, line(letter));
  await write(stream, 'last\n');
  t.deepEqual(
    serverFiles(home).map((path) => readFileSync(path, 'utf8')),
    [line('d'), line('e'), 'last\n'],
  );
  t.is(file.name, serverFiles(home).at(-1) ?? '');
  t.is(readdirSync(join(home, 'logs', '.roll', 'server')).length, 1, 'the hidden folder holds only the file in use');
});

test('files roll by time as well', async (t) => {
  const home = temporaryHome(t);
  const stream = await open(t, new RollingFile({ ...serverLogPolicy(home), frequency: 1000 }));
  await write(stream, 'a\n');
  // The stream's own timer keeps no process alive.
  const alive = setInterval(() => undefined, 1000);
  await once(stream, 'ready');
  clearInterval(alive);
  stream.write(Buffer.from('b\n'));
  await close(stream);
  // On a busy machine the file may roll once more before it is closed.
  const files = serverFiles(home).map((path) => readFileSync(path, 'utf8'));
  t.is(files.join(''), 'a\nb\n');
  t.true(files.length >= 2);
});

test('a file truncated in place continues from its start, without a hole', async (t) => {
  const home = temporaryHome(t);
  const stream = await open(t, new RollingFile(serverLogPolicy(home)));
  await write(stream, 'before\n');
  const [path = ''] = serverFiles(home);
  truncateSync(path);
  await write(stream, 'after\n');
  t.is(readFileSync(path, 'utf8'), 'after\n');
});

test('a restart on the same day continues the same file and counts its size', async (t) => {
  const home = temporaryHome(t);
  await close(await open(t, new RollingFile(serverLogPolicy(home))));
  const [path = ''] = serverFiles(home);
  writeFileSync(path, line('a'));
  const stream = await open(t, new RollingFile(smallServer(home)));
  await roll(stream, 'b\n');
  await write(stream, 'c\n');
  t.deepEqual(
    serverFiles(home).map((name) => readFileSync(name, 'utf8')),
    [`${line('a')}b\n`, 'c\n'],
  );
});

test('a restart on another day begins a new file', async (t) => {
  const home = temporaryHome(t);
  const yesterday = () => new Date(Date.now() - 86_400_000);
  await close(await open(t, new RollingFile(serverLogPolicy(home, yesterday))));
  await write(await open(t, new RollingFile(serverLogPolicy(home))), 'today\n');
  t.deepEqual(
    serverFiles(home).map((path) => readFileSync(path, 'utf8')),
    ['', 'today\n'],
  );
});

test('a file deleted between runs does not come back', async (t) => {
  const home = temporaryHome(t);
  const first = await open(t, new RollingFile(appLogPolicy(home)));
  await write(first, 'old\n');
  await close(first);
  unlinkSync(join(home, 'app.log'));
  await write(await open(t, new RollingFile(appLogPolicy(home))), 'new\n');
  t.is(readFileSync(join(home, 'app.log'), 'utf8'), 'new\n');
});

test('R13 the application log keeps one name, and one file before it', async (t) => {
  const home = temporaryHome(t);
  const stream = await open(t, new RollingFile({ ...appLogPolicy(home), maxBytes: 100 }));
  for (const letter of ['a', 'b', 'c']) await roll(stream, line(letter));
  await write(stream, 'd\n');
  t.is(readFileSync(join(home, 'app.log'), 'utf8'), 'd\n');
  t.is(readFileSync(join(home, 'app.log.1'), 'utf8'), line('c'));
  t.false(existsSync(join(home, 'app.log.2')));
});

test('R13 both logs stay below 50 MB by their own limits', (t) => {
  const slack = 2 * 524_288 * 3;
  t.true(serverLogPolicy('').maxBytes + slack <= 50_000_000);
  t.true(2 * (appLogPolicy('').maxBytes + slack) <= 50_500_000);
});

test('works where there are no hard links', async (t) => {
  const home = temporaryHome(t);
  const noLink = () => {
    throw Object.assign(new Error('not supported'), { code: 'EPERM' });
  };
  const stream = await open(t, new RollingFile(smallServer(home), noLink));
  await roll(stream, line('a'));
  await write(stream, 'b\n');
  t.deepEqual(
    serverFiles(home).map((path) => readFileSync(path, 'utf8')),
    [line('a'), 'b\n'],
  );
});

test('files are for their owner alone', async (t) => {
  const home = temporaryHome(t);
  await open(t, new RollingFile(serverLogPolicy(home)));
  const [path = ''] = serverFiles(home);
  t.is(statSync(path).mode & 0o777, 0o600);
  t.is(statSync(join(home, 'logs')).mode & 0o777, 0o700);
});

test('an impossible path rejects', async (t) => {
  const home = temporaryHome(t);
  writeFileSync(join(home, 'logs'), 'a file');
  await t.throwsAsync(
    new RollingFile(serverLogPolicy(home)).open(() => t.fail()),
    { message: /ENOTDIR|EEXIST/ },
  );
});
