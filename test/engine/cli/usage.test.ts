import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { noUsage } from '../../../engine/features/usage/schema.ts';
import { commandRig } from '../../support/processes/command.ts';

test('junctor usage: a table with totals, CSV and JSON, without a running service', async (t) => {
  const { home, ask, run } = await commandRig(t);
  t.regex((await ask(['usage'])).out, /^From .* to .*: no requests\.\n$/);
  const folder = join(home, 'usage', 'hours');
  const row = { protocol: 'chat', scenario: 'default', provider: 'p', client: '', ...noUsage };
  const rows = [
    {
      ...row,
      model: 'priced',
      requests: 1_200,
      errors: 1,
      losses: 3,
      input: 5_000,
      output: 30,
      cost: 1_234_560_000,
      saved: -500_000_000,
      times: { firstByte: { 40: 90, 60: 10 }, duration: { 80: 100 }, overhead: { 10: 1 } },
    },
    { ...row, model: 'half', requests: 2, input: 10, output: 3, cost: 1_500, unpriced: 1, uncompared: 1, uncounted: 1 },
    { ...row, model: 'un\u001b[31mknown', requests: 1, unpriced: 1, uncompared: 1, uncounted: 1 },
  ];
  await mkdir(folder, { recursive: true });
  const at = new Date().toISOString();
  const id = `${at.slice(0, 'yyyy-mm-ddThh'.length)}.1-1`;
  await writeFile(join(folder, `${id}.json`), JSON.stringify({ id, rows }));
  const { out, code } = await run(['usage', '--since', '7d', '--step', 'month']);
  t.is(code, 0);
  const lines = out.split('\n').map((line) => line.replaceAll(/ {2,}/g, ' | ').trim());
  t.is(
    lines[2],
    'month | model | requests | errors | retries | losses | input | cache read | cache write | output | reasoning | cost',
  );
  const month = at.slice(0, 'yyyy-mm'.length);
  t.is(lines[3], `${month} | p,priced | 1,200 | 1 | 0 | 3 | 5,000 | 0 | 0 | 30 | 0 | $1.23`);
  t.is(lines[4], `${month} | p,half | 2 | 0 | 0 | 0 | ≥ 10 | – | – | ≥ 3 | – | ≥ $0.000002`);
  t.is(lines[5], `${month} | p,un�[31mknown | 1 | 0 | 0 | 0 | – | – | – | – | – | –`);
  t.is(lines[6], '| total | 1,203 | 1 | 0 | 3 | ≥ 5,010 | – | – | ≥ 33 | – | ≥ $1.23');
  t.regex(out, /the costs of 2 requests are not known/);
  t.regex((await ask(['usage', '--by', 'scenario'])).out, /cost +saved\ndefault .* -\$0\.50 \(2 unknown\)\n/);
  const times = (await ask(['usage', '--times'])).out.split('\n');
  t.deepEqual(
    times.slice(2, 5).map((line) => line.split(/ {2,}/)),
    [
      ['model', 'first byte p50/p95/p99', 'duration p50/p95/p99', 'overhead p50/p95/p99'],
      ['p,priced', '10.7/105.9/110.9', '1,059.3/1,115.6/1,120.7', '0.3/0.4/0.4'],
      ['p,half', '–', '–', '–'],
    ],
  );
  t.true(times.every((line) => line.length <= 100));
  t.like(JSON.parse((await ask(['usage', '--json', '--by', 'provider'])).out), {
    rows: [{ name: 'p', requests: 1_203 }],
  });
  t.regex((await ask(['usage', '--csv', '--by', 'provider'])).out, /^from,provider,requests,[\s\S]*\n,p,1203,/);
  const minute = new Date(Date.now() - 60_000).toISOString().slice(0, 'yyyy-mm-ddThh:mm'.length);
  await writeFile(
    join(folder, `${minute.slice(0, 'yyyy-mm-dd'.length)}.jsonl`),
    JSON.stringify({ id: `${minute}.1-1`, rows: [{ ...row, model: 'm', requests: 7 }] }),
  );
  const byMinute = await ask(['usage', '--since', '1h', '--step', 'minute', '--by', 'provider']);
  t.regex(byMinute.out, new RegExp(`\nminute +provider +requests .*\n${minute} +p +7 `));
  t.regex(
    (await ask(['usage', '--since', '3d', '--step', 'minute'])).err,
    /--step must be hour, day, month or none beyond/,
  );
  const refused = await ask(['usage', '--since', 'monday']);
  t.is(refused.code, 1);
  t.regex(refused.err, /^junctor: --since must be a time/);
  t.regex((await ask(['usage', '--by', 'colour'])).err, /--by must be one of model/);
  t.regex((await ask(['usage', '--csv', '--json'])).err, /exclude each other/);
});
