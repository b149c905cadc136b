import { brotliCompressSync, constants, createGzip, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import test from 'ava';
import { concat, EMPTY, from, lastValueFrom, NEVER, Observable, of, Subject, throwError, toArray } from 'rxjs';
import { FaultError } from '../../../engine/model/fault.ts';
import { decompress } from '../../../engine/upstream/decompress.ts';
import { startUpstream } from '../../support/upstream.ts';
import { callOf, read, testUpstreams, until } from './harness.ts';

const plain = Buffer.from('data: {"text":"grüße 👋"}\n\n'.repeat(2000));
/** Made with `zstd` from "data: one\n\n" repeated forty times. */
const zstd = Buffer.from('KLUv/QRYlQAAWGRhdGE6IG9uZQoKAQCqVosXgIJ8Ug==', 'base64');

const codings = [
  ['gzip', gzipSync(plain)],
  ['x-gzip', gzipSync(plain)],
  ['GZIP', gzipSync(plain)],
  ['deflate', deflateSync(plain)],
  ['deflate', deflateRawSync(plain)],
  ['br', brotliCompressSync(plain)],
  ['deflate, gzip', gzipSync(deflateSync(plain))],
  ['identity', plain],
  ['identity, br', brotliCompressSync(plain)],
] as const;

for (const [coding, bytes] of codings) {
  test(`${coding}, ${bytes.length} bytes, in pieces of any size`, async (t) => {
    for (const size of [1, 3, 1000, bytes.length]) {
      if (size === 1 && bytes.length > 5000) continue;
      t.true((await decode(coding, slices(bytes, size))).equals(plain), `${size}`);
    }
  });
}

test('what was flushed comes out before more comes in', async (t) => {
  const gzip = createGzip({ flush: constants.Z_SYNC_FLUSH });
  const source = new Subject<Uint8Array>();
  gzip.on('data', (chunk) => source.next(chunk));
  const received: string[] = [];
  let done = false;
  source.pipe(decompress('gzip')).subscribe({
    next: (chunk) => received.push(Buffer.from(chunk).toString()),
    complete: () => {
      done = true;
    },
  });
  for (const text of ['one', 'two', 'three']) {
    gzip.write(text);
    await until(() => received.at(-1) === text);
  }
  t.deepEqual(received, ['one', 'two', 'three']);
  gzip.on('end', () => source.complete()).end();
  await until(() => done);
});

const bad: readonly (readonly [string, string, readonly Uint8Array[]])[] = [
  ['no gzip at all', 'gzip', [Buffer.from('<html>')]],
  ['gzip that ends too early', 'gzip', [gzipSync(plain).subarray(0, 60)]],
  ['deflate that ends too early', 'deflate', [deflateSync(plain).subarray(0, 60)]],
  ['brotli that ends too early', 'br', [brotliCompressSync(plain).subarray(0, 20)]],
  ['no zstd at all', 'zstd', [Buffer.from('<html></html>')]],
];

for (const [title, coding, pieces] of bad) {
  test(`${title} is garbled`, async (t) => {
    const error = await t.throwsAsync(decode(coding, pieces), { instanceOf: FaultError });
    t.is(error?.fault.kind, 'upstream-garbled');
    t.regex(error?.message ?? '', new RegExp(coding));
  });
}

test('an unknown encoding is garbled', async (t) => {
  const error = await t.throwsAsync(async () => decode('compress', [plain]), { instanceOf: FaultError });
  t.is(error?.fault.kind, 'upstream-garbled');
  t.regex(error?.message ?? '', /compress/);
});

test('an empty body stays empty', async (t) => {
  for (const coding of ['gzip', 'br', 'deflate']) t.is((await decode(coding, [])).length, 0);
  t.deepEqual(await lastValueFrom(EMPTY.pipe(decompress('gzip'), toArray())), []);
});

test("the source's own fault comes through, behind what came before it", async (t) => {
  const cut = new FaultError({ kind: 'upstream-cut', message: 'cut' });
  const gzip = createGzip({ flush: constants.Z_SYNC_FLUSH });
  const flushed = await new Promise<Buffer>((resolve) => {
    gzip.once('data', resolve);
    gzip.write('before');
  });
  const received: string[] = [];
  const broken = concat(
    of(flushed),
    throwError(() => cut),
  ).pipe(decompress('gzip'));
  const error = await new Promise((resolve) => {
    broken.subscribe({ next: (chunk) => received.push(Buffer.from(chunk).toString()), error: resolve });
  });
  t.is(error, cut);
  t.is(received.join(''), 'before');
  t.is(await t.throwsAsync(lastValueFrom(throwError(() => cut).pipe(decompress('gzip')))), cut);
  t.is(await t.throwsAsync(lastValueFrom(throwError(() => cut).pipe(decompress('zstd')))), cut);
});

for (const coding of ['gzip', 'zstd']) {
  test(`unsubscribing reaches the source (${coding})`, async (t) => {
    let open = false;
    const source = new Observable<Uint8Array>((subscriber) => {
      open = true;
      const subscription = concat(of(gzipSync('x').subarray(0, 3)), NEVER).subscribe(subscriber);
      return () => {
        open = false;
        subscription.unsubscribe();
      };
    });
    const subscription = source.pipe(decompress(coding)).subscribe();
    t.true(open);
    subscription.unsubscribe();
    t.false(open);
  });
}

test('a compressed answer of a real server', async (t) => {
  const bytes = gzipSync(plain);
  const upstream = await startUpstream(() => ({ headers: { 'content-encoding': 'gzip' }, pieces: slices(bytes, 100) }));
  const outcome = await read(testUpstreams(), callOf(upstream.url));
  t.true((await decode(outcome.answer?.headers['content-encoding'] ?? '', outcome.chunks)).equals(plain));
  await upstream.close();
});

test('zstd', async (t) => {
  for (const size of [1, 5, zstd.length]) {
    t.is((await decode('zstd', slices(zstd, size))).toString(), 'data: one\n\n'.repeat(40));
  }
});

const decode = async (coding: string, pieces: Iterable<Uint8Array>): Promise<Buffer> =>
  Buffer.concat(await lastValueFrom(from(pieces).pipe(decompress(coding), toArray())));

const slices = (bytes: Uint8Array, size: number): readonly Uint8Array[] =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  );
