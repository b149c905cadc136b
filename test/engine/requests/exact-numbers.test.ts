import test from 'ava';
import { clientProtocols } from '../../../protocols/index.ts';
import { callReplies, histories, quoted } from '../../support/call-bodies.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { type ScriptedUpstream, sseAnswer, startUpstream } from '../../support/upstreams/upstream.ts';

/** What passes the gateway: a 64-bit id, a fine fraction, and a number out of range. */
const args = '{"id":12345678901234567890,"deep":[{"f":0.1234567890123456789,"big":-1e400}],"n":5}';

const formats: Readonly<Record<string, string>> = { messages: 'anthropic', chat: 'groq', gemini: 'gemini' };

const copying = `export default {
  name: 'copying',
  request: (request) => JSON.parse(JSON.stringify(request)),
};`;

let upstreams: readonly ScriptedUpstream[] = [];
let gateway: TestGateway;

test.before(async () => {
  const wires = Object.keys(formats);
  upstreams = await Promise.all(
    wires.map((wire) =>
      startUpstream(({ url, body }) => {
        const reply = callReplies[wire]?.(args);
        const streams = url.includes('stream') || Object(body).stream === true;
        return streams
          ? sseAnswer(reply?.records.map((data) => `data: ${data.replaceAll('\n', '')}\n\n`) ?? [])
          : { headers: { 'content-type': 'application/json' }, pieces: [reply?.whole ?? ''] };
      }),
    ),
  );
  const names = wires.flatMap((wire) => [wire, `${wire} staged`]);
  gateway = await startGateway(
    {
      LOG: false,
      Providers: names.map((name, index) => ({
        name,
        baseUrl: upstreams[Math.floor(index / 2)]?.url,
        apiKey: 'k',
        models: ['m'],
      })),
      transformers: [
        ...names.map((name) => ({ name: formats[name.replace(' staged', '')], provider: name })),
        ...wires.flatMap((wire) => [
          { path: 'copying.mjs', provider: `${wire} staged` },
          { name: 'enhancetool', provider: `${wire} staged` },
        ]),
      ],
    },
    {},
    { files: { 'copying.mjs': copying } },
  );
});

test.after.always(async () => {
  await gateway?.stop();
  await Promise.all(upstreams.map((upstream) => upstream.close()));
});

const holds = (text: string): boolean => text.includes(args) || text.includes(quoted(args).slice(1, -1));

for (const { protocol, paths } of clientProtocols) {
  const client = protocol.wire;
  for (const [index, wire] of Object.keys(formats).entries()) {
    for (const provider of [wire, `${wire} staged`]) {
      for (const stream of [false, true]) {
        test.serial(
          `${client} → ${provider}${stream ? ', streamed' : ''}: numbers keep all their digits`,
          async (t) => {
            const body = histories[client](args);
            const answer = await fetch(`${gateway.baseUrl}${paths[0]}`, {
              method: 'POST',
              headers: { 'content-type': 'application/json' },
              body: body.replace('"model":"m"', `"model":"${provider},m","stream":${stream}`),
            });
            const text = await answer.text();
            t.is(answer.status, 200, text);
            t.true(holds(text), text);
            const sent = upstreams[index]?.requests.at(-1)?.text ?? '';
            t.true(holds(sent), sent);
          },
        );
      }
    }
  }
}
