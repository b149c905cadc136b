import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import test from 'ava';
import { Timeouts } from '../../engine/config/schema.ts';
import { faultKinds } from '../../engine/model/fault.ts';

const root = resolve(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/troubleshooting.md'), 'utf8');

/** The rows of the table below a heading, as lists of their cells; the head and the line below it are left out. */
const rowsBelow = (heading: string): readonly (readonly string[])[] => {
  const part = page.split(/^## /m).find((text) => text.startsWith(`${heading}\n`)) ?? '';
  return [...part.matchAll(/^\|(.*)\|$/gm)].slice(2).map(([, cells = '']) => cells.split('|'));
};

const codeIn = (cell = ''): readonly string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text);

const sources = ['engine', 'protocols', 'transformers']
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => readFileSync(join(root, folder, file), 'utf8')),
  )
  .join('\n');

test('the page on troubleshooting has every kind of fault, in the order of their table', (t) => {
  t.deepEqual(
    rowsBelow('Messages of the gateway').flatMap(([kind]) => codeIn(kind)),
    [...faultKinds],
  );
});

test('the messages that the page quotes are those of the sources', (t) => {
  const quoted = [
    ...rowsBelow('Messages of the gateway').flatMap(([, message]) => codeIn(message)),
    ...rowsBelow('Messages of the commands').flatMap(([message]) => codeIn(message)),
  ];
  t.true(quoted.length > 30);
  t.deepEqual(
    quoted.filter((text) => !sources.includes(text)),
    [],
  );
});

test('each row says the cause and the cure, and the settings that it names exist', (t) => {
  for (const heading of ['Messages of the gateway', 'What agents print']) {
    for (const cells of rowsBelow(heading)) {
      t.is(cells.length, 4, cells.join('|'));
      t.true(
        cells.slice(1).every((cell) => cell !== ''),
        cells.join('|'),
      );
    }
  }
  const names = [...page.matchAll(/`TIMEOUTS\.(\w+)`/g)].map(([, name = '']) => name);
  t.true(names.length > 0);
  t.deepEqual(
    names.filter((name) => !(name in Timeouts.properties)),
    [],
  );
});
