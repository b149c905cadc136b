import test from 'ava';
import { closeNames } from '../../../engine/config/diagnostics.ts';
import { cpuTimeMs } from '../../support/processes/cpu-time.ts';

const names = ['openrouter', 'openai', 'deepseek', 'gemini', 'groq'];

const cases = [
  ['openai', ['openai']],
  ['OpenAI', ['openai']],
  ['opnai', ['openai']],
  ['depseek', ['deepseek']],
  ['deep', ['deepseek']],
  ['geminy', ['gemini']],
  ['open', ['openrouter', 'openai']],
  ['grok', ['groq']],
  ['xyz', []],
  ['', []],
] as const;
for (const [name, close] of cases) test(`"${name}"`, (t) => t.deepEqual(closeNames(name, names), [...close]));

test('no more than three', (t) => t.is(closeNames('m0', ['m1', 'm2', 'm3', 'm4']).length, 3));

test('suggestions are fast for names of any length', (t) => {
  const startedAt = cpuTimeMs();
  t.deepEqual(closeNames('x'.repeat(1_000_000), ['x'.repeat(1_000_000), 'x']), []);
  t.deepEqual(closeNames('xyz', ['x'.repeat(1_000_000)]), []);
  t.true(cpuTimeMs() - startedAt < 3_000);
});
