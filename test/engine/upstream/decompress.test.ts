import { randomBytes } from 'node:crypto';
import { brotliCompressSync, constants, createGzip, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import test from 'ava';
import { concat, EMPTY, from, lastValueFrom, NEVER, Observable, of, Subject, throwError, toArray } from 'rxjs';
import { FaultError } from '../../../engine/model/fault.ts';
import { Backpressure } from '../../../engine/runtime/backpressure.ts';
import { type Decompressing, decompress } from '../../../engine/upstream/decompress.ts';
import { until } from '../../support/until.ts';
import { startUpstream } from '../../support/upstreams/upstream.ts';
import { callOf, read, testUpstreams } from './harness.ts';

const mebibyte = 1024 * 1024;
/** Room for all that these tests decompress. */
const flowing = { pause: () => {}, resume: () => {} };
const how: Decompressing = { maxBytes: mebibyte, backpressure: new Backpressure(), source: flowing };
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

test('flushed data is emitted before more input is read', async (t) => {
  const gzip = createGzip({ flush: constants.Z_SYNC_FLUSH });
  const source = new Subject<Uint8Array>();
  gzip.on('data', (chunk) => source.next(chunk));
  const received: string[] = [];
  let done = false;
  source.pipe(decompress('gzip', how)).subscribe({
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
  t.deepEqual(await lastValueFrom(EMPTY.pipe(decompress('gzip', how), toArray())), []);
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
  ).pipe(decompress('gzip', how));
  const error = await new Promise((resolve) => {
    broken.subscribe({ next: (chunk) => received.push(Buffer.from(chunk).toString()), error: resolve });
  });
  t.is(error, cut);
  t.is(received.join(''), 'before');
  t.is(await t.throwsAsync(lastValueFrom(throwError(() => cut).pipe(decompress('gzip', how)))), cut);
  t.is(await t.throwsAsync(lastValueFrom(throwError(() => cut).pipe(decompress('zstd', how)))), cut);
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
    const subscription = source.pipe(decompress(coding, how)).subscribe();
    t.true(open);
    subscription.unsubscribe();
    t.false(open);
  });
}

test('a compressed answer of a real server comes plain', async (t) => {
  const bytes = gzipSync(plain);
  const upstream = await startUpstream(() => ({ headers: { 'content-encoding': 'gzip' }, pieces: slices(bytes, 100) }));
  t.teardown(() => upstream.close());
  const outcome = await read(testUpstreams(), callOf(upstream.url));
  t.is(outcome.answer?.headers['content-encoding'], undefined);
  t.true(outcome.bytes.equals(plain));
});

/** One frame of blocks that each repeat one byte 128 KiB times; `window` is the descriptor of its window, `base` 2^(10 + n). */
const zstdFrame = (blocks: number, exponent: number, blockBytes = 128 * 1024): Buffer => {
  const block = (index: number): readonly number[] => {
    const head = (index === blocks - 1 ? 1 : 0) | (1 << 1) | (blockBytes << 3);
    return [head & 255, (head >> 8) & 255, head >> 16, 0x61];
  };
  const head = [0x28, 0xb5, 0x2f, 0xfd, 0, (exponent - 10) << 3];
  return Buffer.from([...head, ...Array.from({ length: blocks }, (_, index) => block(index)).flat()]);
};

const large = Buffer.alloc(64 * mebibyte, 'a');
const bombs: readonly (readonly [string, string, Uint8Array])[] = [
  ['gzip', 'gzip', gzipSync(large)],
  ['deflate', 'deflate', deflateSync(large)],
  ['bare deflate', 'deflate', deflateRawSync(large)],
  ['brotli', 'br', brotliCompressSync(large, { params: { [constants.BROTLI_PARAM_QUALITY]: 2 } })],
  ['zstd', 'zstd', zstdFrame(512, 17)],
  ['gzip in gzip', 'gzip, gzip', gzipSync(gzipSync(large))],
];

for (const [title, coding, bytes] of bombs) {
  test(`${title} yields no more than its bound`, async (t) => {
    let received = 0;
    let open = true;
    const source = new Observable<Uint8Array>((subscriber) => {
      const subscription = concat(of(bytes), NEVER).subscribe(subscriber);
      return () => {
        open = false;
        subscription.unsubscribe();
      };
    });
    const error = await new Promise((resolve) => {
      source.pipe(decompress(coding, how)).subscribe({
        next: (chunk) => (received += chunk.length),
        error: resolve,
        complete: () => resolve('no error'),
      });
    });
    t.true(error instanceof FaultError, String(error));
    t.like(error, { fault: { kind: 'upstream-garbled' } });
    t.regex(String(error), /larger than 1048576 bytes\. LIMITS\.decompressedReplyBytes/);
    t.true(received <= mebibyte, `${received}`);
    t.false(open);
  });
}

test('compressed data that yields nothing has the same bound', async (t) => {
  const empty = gzipSync('');
  const members = Buffer.concat(Array.from({ length: 1000 }, () => empty));
  for (const [coding, piece] of [
    ['gzip', members],
    ['zstd', Buffer.concat([Buffer.from([0x50, 0x2a, 0x4d, 0x18, 0, 0x50, 0, 0]), Buffer.alloc(0x5000)])],
  ] as const) {
    const pieces = Array.from({ length: Math.ceil(mebibyte / piece.length) + 1 }, () => piece);
    const error = await t.throwsAsync(decode(coding, pieces), { instanceOf: FaultError });
    t.regex(error?.message ?? '', /decompressedReplyBytes/);
  }
});

test('a window larger than HTTP allows takes no memory, and many blocks no time', async (t) => {
  t.is((await decode('zstd', [zstdFrame(8, 23)])).length, mebibyte);
  for (const frame of [zstdFrame(1, 30), Buffer.concat([zstdFrame(1, 17), zstdFrame(1, 24)]), zstdFrame(1000, 23, 1)]) {
    const error = await t.throwsAsync(decode('zstd', [frame]), { instanceOf: FaultError });
    t.is(error?.message, "The upstream's answer is not valid zstd.");
  }
});

test('more encodings in a row than any server needs are refused', async (t) => {
  const coding = Array.from({ length: 5 }, () => 'gzip').join(', ');
  await t.throwsAsync(decode(coding, [gzipSync('x')]), { message: /5 encodings in a row/ });
});

test('decompressed data waits while the client is slow', async (t) => {
  const backpressure = new Backpressure();
  backpressure.pause();
  let received = 0;
  const all = new Promise<void>((resolve, reject) => {
    of(gzipSync(large.subarray(0, mebibyte)))
      .pipe(decompress('gzip', { maxBytes: mebibyte, backpressure, source: flowing }))
      .subscribe({ next: (chunk) => (received += chunk.length), error: reject, complete: resolve });
  });
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  t.is(received, 0);
  backpressure.resume();
  await all;
  t.is(received, mebibyte);
});

test('compressed data waits in the socket while the decompressor has enough', async (t) => {
  const source = new Subject<Uint8Array>();
  const calls: string[] = [];
  const compressed = { pause: () => void calls.push('pause'), resume: () => void calls.push('resume') };
  const all = lastValueFrom(source.pipe(decompress('gzip', { ...how, source: compressed }), toArray()));
  for (const piece of slices(gzipSync(randomBytes(4 * 65_536), { level: 0 }), 65_536)) source.next(piece);
  t.is(calls[0], 'pause');
  await until(() => calls.at(-1) === 'resume');
  source.complete();
  t.is(Buffer.concat(await all).length, 4 * 65_536);
});

test('zstd', async (t) => {
  for (const size of [1, 5, zstd.length]) {
    t.is((await decode('zstd', slices(zstd, size))).toString(), 'data: one\n\n'.repeat(40));
  }
});

const decode = async (coding: string, pieces: Iterable<Uint8Array>): Promise<Buffer> =>
  Buffer.concat(await lastValueFrom(from(pieces).pipe(decompress(coding, how), toArray())));

const slices = (bytes: Uint8Array, size: number): readonly Uint8Array[] =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  );
