import test from 'ava';
import { outlineOf } from '../../../../engine/model/json/outline.ts';
import type { ModelRequest, Part } from '../../../../engine/model/request.ts';
import { CountingThread } from '../../../../engine/routing/tokens/counting-thread.ts';
import { createTokenCounter } from '../../../../engine/routing/tokens/encoder.ts';
import { tokenLowerBound } from '../../../../engine/routing/tokens/estimate.ts';
import { createPromptTokens } from '../../../../engine/routing/tokens/prompt-tokens.ts';
import { plainRequest } from '../../../support/context.ts';

const text = (words: string): Part => ({ type: 'text', text: words });
const withParts = (...parts: readonly Part[]): ModelRequest => ({ ...plainRequest, turns: [{ role: 'user', parts }] });
const bytesOf = (request: ModelRequest): number => Buffer.byteLength(JSON.stringify(request));

/** Counts a token for every four characters, and notes what was asked. */
const counting = () => {
  const asked: string[] = [];
  let warmed = 0;
  const tokens = createPromptTokens({
    async count(texts) {
      asked.push(...texts);
      return texts.map(({ length }) => Math.ceil(length / 4));
    },
    warm() {
      warmed += 1;
    },
  });
  return { tokens, asked, warmed: () => warmed };
};

const around = 3 + 4;

test('what is short by its bytes is not counted', (t) => {
  const { tokens, warmed } = counting();
  const request = withParts(text('x'.repeat(900)));
  t.deepEqual(tokens.sizeRelativeTo(request, 3000, 1000), { tokens: 1600, by: 'bound' });
  t.is(warmed(), 0);
  t.like(tokens.sizeRelativeTo(request, 1000, 1000), { by: 'bound' });
  t.is(warmed(), 1, 'a count will be needed soon');
});

test('media count, whatever the length of the body', (t) => {
  const { tokens } = counting();
  const image: Part = { type: 'image', source: { kind: 'url', url: 'u' } };
  const document: Part = { type: 'document', source: { kind: 'file', id: 'f' } };
  const result: Part = { type: 'tool-result', id: 'c', content: [image, document] };
  t.like(tokens.sizeRelativeTo(withParts(image, result), 5_000, 10), {
    by: 'count',
    tokens: 1600 + 1600 + 2250 + 7 + around,
  });
  t.like(tokens.sizeRelativeTo(withParts(image, result), 6_000, 10), { tokens: 5450 + 16, by: 'bound' });
});

test('what is long by its words is not counted', (t) => {
  const { tokens } = counting();
  const request = withParts(text('word '.repeat(2000)));
  t.deepEqual(tokens.sizeRelativeTo(request, 1500, 10_000), { tokens: 1999 + around, by: 'bound' });
  t.is(tokens.sizeRelativeTo(request, 2100, 10_000), undefined);
});

test('of a growing conversation only what is new is counted', async (t) => {
  const { tokens, asked } = counting();
  const old = 'x'.repeat(4000);
  const first = withParts(text(old));
  t.is(tokens.sizeRelativeTo(first, 2000, 4100), undefined);
  t.deepEqual(await tokens.count(first), { tokens: 1000 + around, by: 'count' });
  t.deepEqual(tokens.sizeRelativeTo(first, 2000, 4100), { tokens: 1000 + around, by: 'count' });

  const grown = withParts(text(old), text('y'.repeat(800)));
  t.deepEqual(tokens.sizeRelativeTo(grown, 2000, 4900), { tokens: 1800 + around, by: 'bound' }, 'not even that');
  const long = withParts(text(old), text('y'.repeat(2000)));
  t.is(tokens.sizeRelativeTo(long, 2000, 6100), undefined);
  asked.length = 0;
  t.deepEqual(await tokens.count(long), { tokens: 1500 + around, by: 'count' });
  t.deepEqual(asked, ['y'.repeat(2000)]);
});

test('of texts of one length, those that agree in all samples share a count', async (t) => {
  const { tokens, asked } = counting();
  const ask = async (words: string): Promise<number> => {
    asked.length = 0;
    await tokens.count(withParts(text(words)));
    return asked.length;
  };
  for (let index = 1000; index < 2000; index += 1) t.is(await ask(`short, ${index}`), 1);
  const long = 'word '.repeat(1000);
  t.is(await ask(long), 1);
  t.is(await ask(long.replaceAll('word', 'worm')), 1);
  t.is(await ask(`W${long.slice(1)}`), 1, 'the first character is a sample');
  t.is(await ask(`${long.slice(0, -1)}.`), 1, 'and the last');
  t.is(await ask(`wo__${long.slice(4)}`), 0, 'a small change may lie between them');
});

test('tools and calls are not written as JSON where the known texts decide', async (t) => {
  const { tokens, asked } = counting();
  let written = 0;
  const input = {
    get a() {
      written += 1;
      return 'x'.repeat(100);
    },
  };
  const request = withParts(text('x'.repeat(4000)), { type: 'tool-call', id: 'c', name: 'n', input });
  t.is(tokens.sizeRelativeTo(request, 2000, 4200), undefined);
  await tokens.count(request);
  t.is(asked.length, 3);
  written = 0;
  t.deepEqual(tokens.sizeRelativeTo(request, 2000, 4200), {
    tokens: 1000 + 7 + around + 1 + Math.ceil(199 * 1.6),
    by: 'bound',
  });
  t.like(tokens.sizeRelativeTo(request, 1000, 4200), { by: 'bound' });
  t.is(written, 0);
  t.deepEqual(tokens.sizeRelativeTo(request, 1100, 4200), { tokens: 1000 + 7 + around + 1 + 27, by: 'count' });
  t.is(written, 1);
});

test('known texts are found by the bytes of a body, escapes or not', async (t) => {
  const { tokens, asked } = counting();
  const words = ['plain '.repeat(300), 'line\n'.repeat(300), 'größer 😀'.repeat(200), 'unknown '.repeat(100)];
  const [plain = '', lines = '', beyond = ''] = words;

  const body = Buffer.from(JSON.stringify({ model: 'm', turns: words.map((content) => ({ content })) }));
  const outline = outlineOf(body, { cut: new Set(['content']), depth: 9 });
  const { turns }: { turns: { content: string }[] } = JSON.parse(outline?.json ?? '');
  const request = withParts(...turns.map(({ content }) => text(content)));
  const counted = [plain, lines, beyond];
  await tokens.count(withParts(...(request.turns[0]?.parts.slice(0, 3) ?? [])), outline);
  t.deepEqual(asked, counted);
  const known = around + counted.reduce((sum, word) => sum + Math.ceil(word.length / 4), 0);
  const most = known + Buffer.byteLength(words[3] ?? '');
  for (const round of ['first', 'second']) {
    const size = (threshold: number) => tokens.sizeRelativeTo(request, threshold, body.length, outline);
    t.deepEqual(size(5_000), { tokens: most, by: 'bound' }, round);
    t.deepEqual(size(known - 1), { tokens: known, by: 'bound' }, round);
    t.is(size(known + 200), undefined, round);
  }
});

test('the memory is bounded', async (t) => {
  const { tokens, asked } = counting();
  const first = withParts(text('first '.repeat(100)));
  await tokens.count(first);
  await tokens.count(withParts(...Array.from({ length: 50_000 }, (_, index) => text(`other ${index}`))));
  asked.length = 0;
  await tokens.count(first);
  t.is(asked.length, 1);
});

test('where nothing can be counted just now, an estimate serves', async (t) => {
  const tokens = createPromptTokens({ count: () => Promise.reject(new Error('full')), warm() {} });
  t.deepEqual(await tokens.count(withParts(text('x'.repeat(400)))), { tokens: 100 + around, by: 'estimate' });
});

const real = createTokenCounter();
const hard = [
  ...[
    '',
    'x',
    'Grüße, 世界! 😀',
    ' \n\t',
    'a'.repeat(1000),
    '\ud83d',
    '{"a":[1,2,3]}',
    '∑∏∂ℝ',
    '١1١1١1',
    "it's a b c d",
  ],
  ...[
    'a1b22c333d4444',
    '//\n// a\n// b',
    ' '.repeat(5000),
    `${' '.repeat(300)}a`,
    '\u0301 a \u0301b',
    ' a'.repeat(900),
  ],
  ...['x = 1000000;\n'.repeat(50), 'ÀÉ aé Éa 1é1é1', 'A B C-D_E f', '12 345 6789 ٣٤ 5٣6', '\r\n a\r\n/b /c'],
];

test('the bounds lie on both sides of the count', (t) => {
  for (const words of hard) {
    const counted = real.countText(words);
    t.true(tokenLowerBound(words) <= counted, `${JSON.stringify(words)}: ${tokenLowerBound(words)} ≤ ${counted}`);
    t.true(Buffer.byteLength(words) >= counted, words);
  }
  const request = {
    ...withParts(...hard.map(text), { type: 'tool-call', id: 'c', name: 'n', input: { a: [1e20, 1e20] } }),
    tools: [{ type: 'function', name: 't', parameters: { type: 'object' } } as const],
  };
  const bound = counting().tokens.sizeRelativeTo(request, 1e9, bytesOf(request));
  t.true((bound?.tokens ?? 0) >= real.count(request));
});

test('the bound holds for numbers that become longer when they are written', (t) => {
  const numbers = Array.from({ length: 3_000 }, () => 1e20);
  const request = withParts({ type: 'tool-call', id: 'c', name: 'n', input: { numbers } });
  const body = JSON.stringify(request).replaceAll('100000000000000000000', '1e20');
  t.true(real.count(request) > body.length);
  t.true((counting().tokens.sizeRelativeTo(request, 1e9, body.length)?.tokens ?? 0) >= real.count(request));
});

test('the bounds hold for texts of any kind', (t) => {
  const pieces = [
    'a',
    'Be',
    ' ',
    '  ',
    '\n',
    '\r',
    '/',
    '-',
    "'s",
    "'",
    '1',
    '22',
    '٣',
    'é',
    'É',
    '世',
    '😀',
    '\u0301',
    '\t',
    'ǅ',
  ];
  let seed = 7;
  const next = (): number => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed;
  };
  for (let round = 0; round < 3_000; round += 1) {
    const words = Array.from({ length: next() % 12 }, () => pieces[next() % pieces.length]).join('');
    const counted = real.countText(words);
    t.true(tokenLowerBound(words) <= counted && counted <= Buffer.byteLength(words), JSON.stringify(words));
  }
});

test('the thread counts as one does here, and what is asked for while it starts waits', async (t) => {
  const thread = new CountingThread();
  t.teardown(() => thread.close());
  const answers = await Promise.all([thread.count(hard), thread.count(['Hello, world!'])]);
  t.deepEqual(answers, [hard.map(real.countText), [real.countText('Hello, world!')]]);
});

test('a long text is counted elsewhere: its count comes with a later turn of the event loop', async (t) => {
  const thread = new CountingThread();
  t.teardown(() => thread.close());
  await thread.count(['warm']);
  let counted = false;
  const counting = thread.count([Array.from({ length: 30_000 }, (_, index) => `w${index}`).join(' ')]).then(() => {
    counted = true;
  });
  // Counted here, it would be ready without one.
  for (let step = 0; step < 100; step += 1) await undefined;
  t.false(counted);
  await counting;
});

test('a thread that falls fails its counts, and the next one gets another', async (t) => {
  const thread = new CountingThread();
  t.teardown(() => thread.close());
  const lost = thread.count(['a '.repeat(2_000_000)]);
  thread.close();
  await t.throwsAsync(lost, { message: /stopped/ });
  t.deepEqual(await thread.count(['a']), [1]);
});

test('more than the thread can hold is refused', async (t) => {
  const thread = new CountingThread();
  t.teardown(() => thread.close());
  const first = thread.count(['x']);
  await t.throwsAsync(thread.count(['y'.repeat(64_000_001)]), { message: /Too many/ });
  t.deepEqual(await first, [1]);
});
