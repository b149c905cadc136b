import test from 'ava';
import { providersAt, wires } from '../../support/faults/wires.ts';
import { startGateway } from '../../support/gateway.ts';
import { jsonAnswer, startUpstream } from '../../support/upstreams/upstream.ts';

const KiB = 1024;
const json = { 'content-type': 'application/json' };

/** A request with so many empty lists in a member that no vendor knows. */
const bodyOf = (model: string, lists: number): string =>
  JSON.stringify({ model, max_tokens: 9, messages: [{ role: 'user', content: 'Hello' }], x: Array(lists).fill([]) });

for (const provider of ['messages', 'chat'] as const) {
  for (const [size, lists, least, most] of [
    ['read as text', 4_000, 0, 16 * KiB],
    ['of which a relay reads an outline', 16_000, 16 * KiB, 64 * KiB],
    ['read in parts', 80_000, 64 * KiB, 1_024 * KiB],
  ] as const) {
    test(`messages → ${provider}: a body ${size} gets memory for its values, or an error of its route`, async (t) => {
      const upstream = await startUpstream(() => jsonAnswer(wires[provider].reply('ok')));
      t.teardown(upstream.close);
      // Enough for the body, or for half of it with its values.
      const limits = { bodiesBytes: 44 * lists };
      const gateway = await startGateway({ LOG: false, ...providersAt(() => upstream.url), LIMITS: limits });
      t.teardown(gateway.stop);
      const ask = async (count: number) => {
        const body = bodyOf(`${provider},m`, count);
        const answer = await fetch(`${gateway.baseUrl}/v1/messages`, { method: 'POST', headers: json, body });
        return { status: answer.status, body: await answer.json() };
      };
      const { length } = bodyOf(`${provider},m`, lists);
      t.true(length >= least && length < most, `${length}`);
      t.is((await ask(lists / 2)).status, 200);
      const refused = await ask(lists);
      t.is(refused.status, 413);
      t.like(refused.body, { type: 'error', error: { type: 'request_too_large' } });
      t.is((await ask(lists / 2)).status, 200, 'what was taken is given back');
    });
  }
}
