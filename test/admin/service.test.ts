import test from 'ava';
import { chooseServer } from '../../engine/http/choose-server.ts';
import { startGateway } from '../support/gateway.ts';

test('a service inside another program says that it cannot restart itself, and which process it is', async (t) => {
  const { baseUrl, home, stop } = await startGateway({ Providers: [], APIKEY: 'a-key-of-mine' });
  t.teardown(stop);
  const headers = { 'x-api-key': 'a-key-of-mine' };
  t.is((await fetch(`${baseUrl}/api/restart`, { method: 'POST' })).status, 401);
  const restarted = await fetch(`${baseUrl}/api/restart`, { method: 'POST', headers });
  t.is(restarted.status, 503);
  t.like(await restarted.json(), { success: false });
  t.is((await fetch(`${baseUrl}/api/service`)).status, 401);
  const service = await (await fetch(`${baseUrl}/api/service`, { headers })).json();
  const { facts } = chooseServer();
  t.like(service, {
    http: { ...facts },
    pid: process.pid,
    answeredBy: process.pid,
    restarts: 0,
    home,
    baseUrl,
    providers: [],
  });
});
