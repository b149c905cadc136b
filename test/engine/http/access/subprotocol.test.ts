import test from 'ava';
import { answeredSubprotocol, handshakeHeaders } from '../../../../engine/http/access/subprotocol.ts';
import { chooseServer } from '../../../../engine/http/choose-server.ts';
import { openSocket } from '../../../support/faults/socket-client.ts';
import { providersAt, wires } from '../../../support/faults/wires.ts';
import { startGateway } from '../../../support/gateway.ts';
import { sseAnswer, startUpstream } from '../../../support/upstreams/upstream.ts';

const origin = 'https://app.example';
const withKey = (key: string): string => `openai-insecure-api-key.${key}`;
const good = withKey('the-key');

/** What a page offers, the other headers of its handshake, and the subprotocol of the answer or its status. */
const handshakes: readonly (readonly [offers: string[], headers: Readonly<Record<string, string>>, outcome: string])[] =
  [
    [['realtime', good], { origin }, 'realtime'],
    [[good, 'openai-beta.realtime-v1', 'realtime'], { origin }, 'realtime'],
    [[good, 'chat'], { origin }, 'chat'],
    [[good], { origin }, good],
    [['realtime', withKey('wrong')], { origin }, 'status 401'],
    [['realtime', withKey('')], { origin }, 'status 401'],
    [['realtime'], { origin }, 'status 401'],
    [['realtime', good], { origin: 'https://other.example' }, 'status 403'],
    [['realtime', good], {}, 'status 401'],
    [['realtime', good], { origin, authorization: 'Bearer wrong' }, 'status 401'],
    [['realtime'], { authorization: 'Bearer the-key' }, 'realtime'],
  ];

for (const server of ['uws', 'node']) {
  test(`a page of ALLOWED_ORIGINS gives its key as a subprotocol: ${server}`, async (t) => {
    const upstream = await startUpstream(() => sseAnswer([wires.responses.stream(['hi']).join('')]));
    t.teardown(() => upstream.close());
    const config = { LOG: false, APIKEY: 'the-key', ALLOWED_ORIGINS: [origin], ...providersAt(() => upstream.url) };
    const { baseUrl, stop } = await startGateway(config, {}, { server: chooseServer(server) });
    t.teardown(stop);
    for (const [offers, headers, outcome] of handshakes) {
      const opened = await openSocket(t, `${baseUrl}/v1/responses`, headers, offers).catch(String);
      const got = typeof opened === 'string' ? opened.replace('Error: ', '') : opened.socket.protocol;
      t.is(got, outcome, `${offers} ${JSON.stringify(headers)}`);
      if (typeof opened === 'string') continue;
      opened.send({ type: 'response.create', model: 'responses,own', input: 'hi', store: false });
      t.is((await opened.answer()).at(-1)?.type, 'response.completed');
    }
    t.false(JSON.stringify(upstream.requests.map((request) => request.headers)).includes('the-key'));
  });
}

test('no other header of a handshake holds an offered key', (t) => {
  const rest = ['host', 'x', 'origin', origin];
  const offered = [...rest, 'sec-websocket-protocol', `${good}, realtime`, 'sec-websocket-protocol', withKey('two')];
  t.deepEqual(handshakeHeaders(offered), [
    ...rest,
    'sec-websocket-protocol',
    'realtime',
    'authorization',
    'Bearer the-key',
  ]);
  t.deepEqual(handshakeHeaders(['host', 'x', 'sec-websocket-protocol', good]), ['host', 'x']);
  t.deepEqual(handshakeHeaders(rest), rest);
  t.is(answeredSubprotocol(undefined), '');
  t.is(answeredSubprotocol(' , '), '');
});
