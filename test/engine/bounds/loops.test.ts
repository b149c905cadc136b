import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { request } from 'undici';
import { startGateway } from '../../support/gateway.ts';
import { jsonAnswer, startUpstream } from '../../support/upstreams/upstream.ts';

const reply = { choices: [{ message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }] };

const ask = async (baseUrl: string, model: string) => {
  const answer = await request(`${baseUrl}/v1/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }] }),
  });
  return { status: answer.statusCode, text: await answer.body.text() };
};

const provider = (name: string, baseUrl: string) => ({ name, baseUrl: `${baseUrl}/v1`, apiKey: 'k', models: ['m'] });

/** A port that leads to another, which may be set later. */
const openEntrance = async (t: ExecutionContext) => {
  const state = { target: '', connections: 0 };
  const server = createServer((socket) => {
    state.connections += 1;
    const onward = connect(Number(new URL(state.target).port), '127.0.0.1');
    for (const end of [socket, onward])
      end.on('error', () => {}).on('close', () => [socket, onward].map((one) => one.destroy()));
    socket.pipe(onward).pipe(socket);
  });
  t.teardown(() => server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A TCP server's address is always of this kind; `string` is for pipes.
  return { state, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
};

test('a provider that leads to the gateway itself is refused at the second pass', async (t) => {
  const { state, url } = await openEntrance(t);
  const gateway = await startGateway({ LOG: false, Providers: [provider('self', url)] });
  t.teardown(gateway.stop);
  state.target = gateway.baseUrl;
  const { status, text } = await ask(gateway.baseUrl, 'self,self,m');
  t.is(status, 400);
  t.regex(text, /This request has passed this gateway before: the base URL of a provider leads to the gateway itself/);
  t.is(state.connections, 1);
});

test('a chain of gateways is no loop', async (t) => {
  const upstream = await startUpstream(() => jsonAnswer(reply));
  t.teardown(upstream.close);
  let { url } = upstream;
  for (let count = 0; count < 3; count += 1) {
    const gateway = await startGateway({
      LOG: false,
      Providers: [provider('next', url)],
      Router: { default: 'next,m' },
    });
    t.teardown(gateway.stop);
    url = gateway.baseUrl;
  }
  t.is((await ask(url, 'm')).status, 200);
  t.regex(String(upstream.requests[0]?.headers['x-junctor-hops']), /^[\da-f]{16}(?:, [\da-f]{16}){2}$/);
});
