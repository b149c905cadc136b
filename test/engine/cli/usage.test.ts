import test from 'ava';
import { storeFile } from '../../../engine/store/store-thread.ts';
import { commandRig } from '../../support/processes/command.ts';
import { type UsageRow, withUsage } from '../../support/store-here.ts';

test('junctor usage: a table with totals, CSV and JSON, without a running service', async (t) => {
  const { home, ask, run } = await commandRig(t);
  t.regex((await ask(['usage'])).out, /^From .* to .*: no requests\.\n$/);
  const at = new Date().toISOString();
  const hour = at.slice(0, 'yyyy-mm-ddThh'.length);
  const row = (model: string, sums: UsageRow['sums'], times?: UsageRow['times']): UsageRow => ({
    ...{ unit: 'hour', at: hour, series: { scenario: 'default', provider: 'p', model } },
    ...{ sums, times },
  });
  const priced = { requests: 1_200, errors: 1, losses: 3, input: 5_000, output: 30 };
  const costs = { cost: 1_234_560_000, saved: -500_000_000 };
  const times = { firstByte: { 40: 90, 60: 10 }, duration: { 80: 100 }, overhead: { 10: 1 } };
  const unknown = { unpriced: 1, uncompared: 1, uncounted: 1 };
  withUsage(storeFile(home), [
    row('priced', { ...priced, ...costs }, times),
    row('half', { requests: 2, input: 10, output: 3, cost: 1_500, ...unknown }),
    row('un\u001b[31mknown', { requests: 1, ...unknown }),
  ]).close();
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
  const timed = (await ask(['usage', '--times'])).out.split('\n');
  t.deepEqual(
    timed.slice(2, 5).map((line) => line.split(/ {2,}/)),
    [
      ['model', 'first byte p50/p95/p99', 'duration p50/p95/p99', 'overhead p50/p95/p99'],
      ['p,priced', '10.7/105.9/110.9', '1,059.3/1,115.6/1,120.7', '0.3/0.4/0.4'],
      ['p,half', '–', '–', '–'],
    ],
  );
  t.true(timed.every((line) => line.length <= 100));
  t.like(JSON.parse((await ask(['usage', '--json', '--by', 'provider'])).out), {
    rows: [{ name: 'p', requests: 1_203 }],
  });
  t.regex((await ask(['usage', '--csv', '--by', 'provider'])).out, /^from,provider,requests,[\s\S]*\n,p,1203,/);
  const minute = new Date(Date.now() - 60_000).toISOString().slice(0, 'yyyy-mm-ddThh:mm'.length);
  const series = { scenario: 'default', provider: 'p', model: 'm' };
  withUsage(storeFile(home), [{ unit: 'minute', at: minute, series, sums: { requests: 7 }, times: undefined }]).close();
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
