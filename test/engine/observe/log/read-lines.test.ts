import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { findTail, readLines, type Tail } from '../../../../engine/observe/log/read-lines.ts';
import { temporaryHome } from './temporary-home.ts';

const all: Tail = { maxBytes: 1e9, maxLines: undefined };

const linesOf = async (t: ExecutionContext, content: string | Uint8Array, tail: Tail): Promise<string[]> => {
  const path = join(temporaryHome(t), 'x.log');
  await writeFile(path, content);
  const file = await open(path);
  try {
    const lines: string[] = [];
    for await (const batch of readLines(file, await findTail(file, tail))) lines.push(...batch);
    return lines;
  } finally {
    await file.close();
  }
};

const line = (index: number): string => JSON.stringify({ index, msg: `é🙂${'x'.repeat(index % 700)}` });
const many = Array.from({ length: 3_000 }, (_, index) => line(index));
const long = [`"${'a'.repeat(700_000)}"`, '"b"', `"${'🙂'.repeat(200_000)}"`];

const cases: readonly (readonly [title: string, content: string, tail: Partial<Tail>, lines: readonly string[]])[] = [
  ['nothing', '', {}, []],
  ['one line', '{}\n', {}, ['{}']],
  ['blank lines', '\n{}\n\n \n{"a":1}\n\n', {}, ['{}', '{"a":1}']],
  ['what is no JSON but a whole line', '{}\ntorn{\n{}\n', {}, ['{}', 'torn{', '{}']],
  ['an end amid a line', '{}\n{"a', {}, ['{}']],
  ['an end without a line end', '{}\n{"a":1}', {}, ['{}', '{"a":1}']],
  ['many lines over many blocks', `${many.join('\n')}\n`, {}, many],
  ['lines longer than a block', `${long.join('\n')}\n`, {}, long],
  ['the last bytes, from amid a line', '{"a":1}\n{"b":1}\n{"c":1}\n', { maxBytes: 18 }, ['{"b":1}', '{"c":1}']],
  ['the last bytes, from a line’s beginning', '{"a":1}\n{"b":1}\n{"c":1}\n', { maxBytes: 16 }, ['{"b":1}', '{"c":1}']],
  ['the last bytes, one less', '{"a":1}\n{"b":1}\n{"c":1}\n', { maxBytes: 15 }, ['{"c":1}']],
  ['no line fits', '{"a":1}\n{"b":1}\n', { maxBytes: 3 }, []],
  ['one line asked for', '{"a":1}\n{"b":1}\n', { maxLines: 1 }, ['{"b":1}']],
  ['as many lines as there are', '{"a":1}\n{"b":1}\n', { maxLines: 2 }, ['{"a":1}', '{"b":1}']],
  ['more lines than there are', '{"a":1}\n{"b":1}\n', { maxLines: 3 }, ['{"a":1}', '{"b":1}']],
  ['one line, the last without an end', '{"a":1}\n{"b":1}', { maxLines: 1 }, ['{"b":1}']],
  ['many lines of more', `${many.join('\n')}\n`, { maxLines: 2_345 }, many.slice(-2_345)],
  [
    'many lines, fewer by their size',
    `${many.join('\n')}\n`,
    { maxLines: 2_345, maxBytes: line(2_999).length + 10 },
    many.slice(-1),
  ],
  ['one of the long lines', `${long.join('\n')}\n`, { maxLines: 2 }, long.slice(-2)],
];

for (const [title, content, tail, lines] of cases) {
  test(title, async (t) => t.deepEqual(await linesOf(t, content, { ...all, ...tail }), [...lines]));
}

test('a character cut by a block’s end stays whole', async (t) => {
  // Blocks hold 256 KiB; the character's bytes lie on both sides of the border.
  for (const before of [1, 2, 3]) {
    const text = `"${'a'.repeat(256 * 1024 - 1 - before)}🙂"`;
    t.deepEqual(await linesOf(t, `${text}\n`, all), [text]);
  }
});
