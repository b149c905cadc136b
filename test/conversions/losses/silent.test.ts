import test from 'ava';
import fc, { type Arbitrary } from 'fast-check';
import type { JsonObject } from '../../../engine/model/json/json.ts';
import { chatBody } from '../../support/arbitraries/chat.ts';
import { messagesBody } from '../../support/arbitraries/messages.ts';
import { responsesBody } from '../../support/arbitraries/responses.ts';
import { leavesOf } from './leaves.ts';
import { clientOf, targets } from './pairs.ts';
import { findSilent } from './silent.ts';

/** More bodies, and other ones, show more: `LOSS_RUNS=2000 LOSS_SEED=7`. */
const runs = Number(process.env.LOSS_RUNS ?? 5);
const seed = Number(process.env.LOSS_SEED ?? 1);

const bodies: Readonly<Record<string, Arbitrary<JsonObject>>> = {
  messages: messagesBody,
  chat: chatBody,
  responses: responsesBody,
};

for (const [wire, body] of Object.entries(bodies)) {
  const client = clientOf(wire);

  test(`${wire}: the route accepts every generated body`, (t) => {
    const sizes = fc.sample(body, { numRuns: 300, seed }).map((asked) => {
      t.notThrows(() => client.decodeRequest(asked), JSON.stringify(asked));
      return leavesOf(asked).length;
    });
    t.true(Math.max(...sizes) > 50, 'some say much');
  });

  for (const [index, target] of targets.entries()) {
    test(`${wire} → ${target.name}: nothing is lost in silence, and losses speak the client's words`, (t) => {
      fc.assert(
        fc.property(body, (asked) => {
          const { silent, foreign } = findSilent(client, asked, target);
          if (silent.length > 0) throw new Error(`lost without a record: ${silent.join(', ')}`);
          if (foreign.length > 0) throw new Error(`losses that name nothing in the body: ${foreign.join(', ')}`);
        }),
        // Bodies of their own for each upstream: most share a protocol, so few for each are many for it.
        { numRuns: runs, seed: seed + index },
      );
      t.pass();
    });
  }
}

test('the search finds silent losses, and losses recorded differently', (t) => {
  const [target] = targets;
  const client = clientOf('messages');
  if (!target) throw new Error('no targets');
  const forgetful = {
    ...target,
    protocol: {
      ...target.protocol,
      encodeRequest: (...[request, context]: Parameters<typeof target.protocol.encodeRequest>) => {
        context.losses.drop('nothing_of_the_kind');
        const { max_completion_tokens: _, ...kept } = target.protocol.encodeRequest(request, context);
        return kept;
      },
    },
  };
  const asked = { model: 'm', max_tokens: 10, top_k: 5, messages: [{ role: 'user', content: 'x' }] };
  t.deepEqual(findSilent(client, asked, forgetful), { silent: ['max_tokens'], foreign: ['nothing_of_the_kind'] });
  t.deepEqual(findSilent(client, asked, target), { silent: [], foreign: [] });
});
