import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import test from 'ava';

const root = resolve(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/contributing/buffers.md'), 'utf8');

const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| Buffer'))
  .map((line) => line.split('|').map((cell) => cell.trim()));

const named = (cell = ''): readonly string[] => [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? '');

test('each buffer has a bound, a file that sets it, and a test', (t) => {
  const broken = rows.filter(([, buffer, bound, source, tests]) => {
    const [sources, proofs] = [named(source), named(tests)];
    const isComplete = Boolean(buffer && bound) && sources.length > 0 && proofs.length > 0;
    const areTests = proofs.every((path) => /^test\/.*\.test\.ts$/.test(path));
    return !isComplete || !areTests || ![...sources, ...proofs].every((path) => existsSync(join(root, path)));
  });
  t.deepEqual(broken, []);
  t.true(rows.length > 40);
});

test('each limit in bytes of the configuration bounds a buffer', (t) => {
  const schema = readFileSync(join(root, 'engine/config/schema.ts'), 'utf8');
  const limits = schema.slice(schema.indexOf('export const Limits'), schema.indexOf('export type Limits'));
  const settings = [...limits.matchAll(/^ {2}(\w+Bytes|\w+PerProvider):/gm)].map((match) => match[1] ?? '');
  t.true(settings.length > 7);
  t.deepEqual(
    settings.filter((name) => !rows.some(([, , bound]) => named(bound).includes(name))),
    [],
  );
});
