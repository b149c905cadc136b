import { request } from 'node:http';
import test from 'ava';
import { commandRig } from '../../support/command.ts';
import { until } from '../../support/until.ts';
import { adminKey, client, keyOf } from './rig.ts';

/** Asks on a connection of its own, which any of the processes may accept. */
const ask = (url: string, key: string, body?: object): Promise<{ readonly status: number; readonly text: string }> =>
  new Promise((resolve, reject) => {
    const sent = request(
      url,
      { method: body ? 'POST' : 'GET', headers: { 'x-api-key': key }, agent: false },
      (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
        });
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }));
      },
    );
    sent.on('error', reject).end(body && JSON.stringify(body));
  });

test('several processes grant a limit together, and each comes to know what all of them counted', async (t) => {
  const { begin } = await commandRig(t, {
    APIKEY: adminKey,
    PORT: 0,
    WORKERS: 2,
    LOG: false,
    CLIENTS: [client('a', { limits: { requestsPerMinute: 11 } })],
    Providers: [{ name: 'demo', baseUrl: 'http://demo.invalid/v1', apiKey: '', models: ['echo'] }],
  });
  const service = begin(['start']);
  await service.says('listens on');
  const [, baseUrl = ''] = /(http:\S+)/.exec(service.out()) ?? [];
  const body = { model: 'demo,echo', messages: [{ role: 'user', content: 'Hello' }] };
  const asked = Array.from({ length: 60 }, () => ask(`${baseUrl}/v1/chat/completions`, keyOf('a'), body));
  const statuses = (await Promise.all(asked)).map(({ status }) => status);
  const granted = statuses.filter((status) => status === 200).length;
  t.is(statuses.filter((status) => status === 429).length, 60 - granted);
  // How the connections are spread is up to the system: one process may have got fewer than its share.
  t.true(granted >= 5 && granted <= 11, `${granted}`);

  const seen = new Map<number, number>();
  await until(async () => {
    const { pid } = JSON.parse((await ask(`${baseUrl}/api/activity`, adminKey)).text).process;
    seen.set(pid, 0);
    return seen.size === 2;
  });
  let inARow = 0;
  await until(async () => {
    const { usage } = JSON.parse((await ask(`${baseUrl}/api/clients`, adminKey)).text).clients[0];
    inARow = usage.month.requests === granted ? inARow + 1 : 0;
    return inARow === 20;
  });
  service.child.kill('SIGTERM');
  t.is((await service.ended).code, 0);
});
