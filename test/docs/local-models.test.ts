import { readFileSync } from 'node:fs';
import test from 'ava';
import { hostOf } from '../../transformers/formats/hosts.ts';

const page = readFileSync(new URL('../../docs/local-models.md', import.meta.url), 'utf8');

test('each server of the page on local models is recognised by its port', (t) => {
  const found = [...page.matchAll(/"name": "(\w+)", "baseUrl": "([^"]+)"/g)].map(([, name = '', baseUrl = '']) => ({
    name,
    row: hostOf(new URL(baseUrl), undefined)?.row,
  }));
  t.deepEqual(
    found.map(({ name }) => name),
    ['ollama', 'lmstudio', 'llamacpp', 'vllm', 'sglang'],
  );
  for (const { name, row } of found) t.is(row?.name, name);
});

test('the page says under which name each server gets earlier reasoning', (t) => {
  const rows = new Map(
    [...page.matchAll(/^\|([\w .]+)\|[^|]+\|`(reasoning(?:_content)?)`\|$/gm)].map(([, title = '', field = '']) => [
      title,
      field,
    ]),
  );
  for (const port of [11_434, 1234, 8080, 8000, 30_000]) {
    const { title = '', differ } = hostOf(new URL(`http://127.0.0.1:${port}`), undefined)?.row ?? {};
    t.is(rows.get(title), differ?.reasoningHistory?.field ?? 'reasoning_content', title);
  }
});
