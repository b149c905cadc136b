import { createServer } from 'node:net';
import test from 'ava';
import { otherAtLocalhost } from '../../../engine/http/bind.ts';

test('another program at the same port of [::1] is noticed', async (t) => {
  const other = createServer();
  t.teardown(() => other.close());
  const port = await new Promise<number | undefined>((resolve) => {
    other.once('error', () => resolve(undefined));
    other.listen({ host: '::1', port: 0, exclusive: true }, () => {
      const address = other.address();
      resolve(typeof address === 'object' && address ? address.port : undefined);
    });
  });
  if (port === undefined) return t.pass('this machine has no IPv6');
  t.regex((await otherAtLocalhost(['127.0.0.1'], port)) ?? '', /another program listens at \[::1\]:\d+/);
  t.is(await otherAtLocalhost(['127.0.0.1', '::1'], port), undefined, 'its own');
  t.is(await otherAtLocalhost(['10.0.0.7'], port), undefined, 'localhost does not lead here at all');
  await new Promise((resolve) => other.close(resolve));
  t.is(await otherAtLocalhost(['127.0.0.1'], port), undefined);
});
