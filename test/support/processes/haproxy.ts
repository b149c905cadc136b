import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import type { ExecutionContext } from 'ava';
import { freePort } from '../../../engine/http/bind.ts';
import { until } from '../until.ts';

const settings = resolve(import.meta.dirname, '../../../deploy/haproxy.cfg');

/** HAProxy with `deploy/haproxy.cfg` in front of gateways at up to three ports; the test's end stops it. Returns its URL. */
export const startHaproxy = async (t: ExecutionContext, ports: readonly number[]): Promise<string> => {
  const port = await freePort('127.0.0.1');
  const closed = await freePort('127.0.0.1');
  const [one = closed, two = closed, three = closed] = ports;
  const child = spawn('haproxy', ['-db', '-f', settings], {
    stdio: 'ignore',
    env: {
      ...process.env,
      LISTEN: `127.0.0.1:${port}`,
      GATEWAY_ONE: `127.0.0.1:${one}`,
      GATEWAY_TWO: `127.0.0.1:${two}`,
      GATEWAY_THREE: `127.0.0.1:${three}`,
    },
  });
  const ended = once(child, 'exit');
  t.teardown(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const url = `http://127.0.0.1:${port}`;
  await until(() =>
    fetch(`${url}/health/ready`).then(
      ({ status }) => status === 200,
      () => false,
    ),
  );
  return url;
};
