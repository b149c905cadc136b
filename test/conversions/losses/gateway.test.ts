import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import type { Loss } from '../../../engine/model/loss.ts';
import { fieldPattern, plainPath } from '../../../engine/model/wire/client-paths.ts';
import { start } from '../../../engine/service/server.ts';
import { jsonAnswer, startUpstream } from '../../support/upstreams/upstream.ts';

const answer = {
  id: 'x',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'hi' } }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};

const clients = {
  '/v1/messages': {
    max_tokens: 9,
    top_k: 5,
    stop_sequences: ['1', '2', '3', '4', '5'],
    metadata: { user_id: 'u', 'x\ny': 'z' },
    messages: [{ role: 'user', content: [{ type: 'text', text: 'a', cache_control: { type: 'ephemeral' } }] }],
  },
  '/v1/responses': {
    truncation: 'auto',
    text: { verbosity: 'low' },
    input: [
      { role: 'user', content: [{ type: 'input_text', text: 'a', prompt_cache_breakpoint: { mode: 'explicit' } }] },
    ],
  },
} as const;

const headers: Readonly<Record<keyof typeof clients, string>> = {
  '/v1/messages': 'dropped: top_k; approximated: stop_sequences',
  '/v1/responses': 'dropped: truncation, text.verbosity',
};

/** What leaves the answer as it is: in the log and the counter alone. */
const light: Readonly<Record<keyof typeof clients, readonly string[]>> = {
  '/v1/messages': ['metadata.user_id', 'metadata.x_y', 'messages[0].content[0].cache_control'],
  '/v1/responses': ['input[0].content[0].prompt_cache_breakpoint'],
};

for (const path of Object.keys(clients) as (keyof typeof clients)[]) {
  test(`${path}: header, log and counter tell the losses in the client's words`, async (t) => {
    const upstream = await startUpstream(() => jsonAnswer(answer));
    const home = await mkdtemp(join(tmpdir(), 'junctor-'));
    const provider = { name: 'p', baseUrl: upstream.url, apiKey: 'k', models: ['m'] };
    await writeFile(join(home, 'config.json'), JSON.stringify({ PORT: 0, Providers: [provider] }));
    const service = await start({ env: {}, home, report: () => {} });
    const ask = async () => {
      const response = await fetch(`${service.baseUrl}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'p,m', ...clients[path] }),
      });
      await response.text();
      return response;
    };
    const [first] = [await ask(), await ask()];
    const series = service.losses();
    await service.stop();
    await upstream.close();
    const log = await readFile(join(home, 'app.log'), 'utf8');
    await rm(home, { recursive: true, force: true });

    t.is(first?.status, 200);
    const told = first?.headers.get('x-junctor-loss') ?? '';
    t.deepEqual(told.split(/; /).sort().map(sortedList), headers[path].split(/; /).sort().map(sortedList));
    const fields = [...Object.values(fieldsOf(told)).flat(), ...light[path]].sort();
    t.true(series.every(({ stage, count }) => stage === 'openai' && count === 2));
    t.deepEqual(series.map(({ field }) => field).sort(), fields.map(fieldPattern).sort());
    const records = log
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const losses: readonly Loss[] = records.find((record) => record.losses)?.losses ?? [];
    t.deepEqual(losses.map((loss) => plainPath(loss.path)).sort(), fields);
    t.true(losses.every(({ step }) => step === 'openai'));
  });
}

/** A list of the header, its members in order. */
const sortedList = (list: string): string => {
  const [outcome, fields = ''] = list.split(': ');
  return `${outcome}: ${fields.split(', ').sort().join(', ')}`;
};

/** The header's lists by their outcome. */
const fieldsOf = (header: string): Readonly<Record<string, readonly string[]>> =>
  Object.fromEntries(
    header.split('; ').map((list) => {
      const [outcome = '', fields = ''] = list.split(': ');
      return [outcome, fields.split(', ')];
    }),
  );
