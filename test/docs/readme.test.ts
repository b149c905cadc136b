import { readFile } from 'node:fs/promises';
import test from 'ava';
import { parseConfig } from '../../engine/config/parse.ts';
import { validateConfig } from '../../engine/config/validate.ts';
import { startGateway } from '../support/gateway.ts';
import { chatReply } from '../support/upstreams/chat-stream.ts';
import { jsonAnswer, startUpstream } from '../support/upstreams/upstream.ts';

const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8');

const blockOf = (language: string): string => {
  const [, block] = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(readme) ?? [];
  if (block === undefined) throw new Error(`README.md has no block of ${language}`);
  return block;
};

test('the README is read in a minute', (t) => {
  t.true(readme.split('\n').length <= 121);
});

test('the configuration in the README is valid', (t) => {
  const parsed = parseConfig(blockOf('jsonc'));
  if ('faults' in parsed) return t.fail(JSON.stringify(parsed.faults));
  const env = { ANTHROPIC_API_KEY: 'a', OPENAI_API_KEY: 'b' };
  t.like(validateConfig(parsed.source, env), { warnings: [], faults: undefined });
});

test('the operator in the README changes a request', async (t) => {
  const upstream = await startUpstream(() => jsonAnswer(chatReply('ok')));
  t.teardown(upstream.close);
  const gateway = await startGateway(
    {
      LOG: false,
      Providers: [{ name: 'p', baseUrl: upstream.url, apiKey: 'k', models: ['m'] }],
      Router: { default: 'p,m' },
      transformers: [{ path: 'redact.ts' }],
    },
    {},
    { files: { 'redact.ts': blockOf('ts') } },
  );
  t.teardown(gateway.stop);
  t.deepEqual(gateway.reports, []);
  const answer = await fetch(`${gateway.baseUrl}/v1/messages`, {
    method: 'POST',
    body: JSON.stringify({
      model: 'any',
      max_tokens: 9,
      system: 'Paid with 4111111111111111.',
      messages: [{ role: 'user', content: 'Hi' }],
    }),
  });
  t.is(answer.status, 200);
  t.regex(JSON.stringify(upstream.requests[0]?.body), /Paid with \[card\]\./);
});
