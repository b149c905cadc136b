import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import type { PoolStrategy } from '../../../engine/config/schema.ts';
import type { ModelRequest } from '../../../engine/model/request.ts';
import type { Gateway } from '../../../engine/routing/gateway.ts';
import { resolveRoute } from '../../../engine/routing/resolve.ts';
import type { ModelHealth } from '../../../engine/upstream/health/health.ts';
import { createUpstreamHealth } from '../../../engine/upstream/health/health.ts';
import { messagesClient } from '../../../protocols/messages/index.ts';
import { plainRequest } from '../../support/context.ts';
import { configOf, gatewayOf } from '../../support/gateway-of.ts';

const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];

interface Rig {
  readonly gateway: Gateway;
  readonly clock: { nowMs: number };
  /** The name of the provider that is chosen, and the reason. */
  readonly choose: (request?: ModelRequest, asked?: string) => { readonly to: string; readonly reason: string };
  readonly health: (provider: string) => ModelHealth;
  /** Chooses, and counts the request as sent. */
  readonly send: (request?: ModelRequest) => string;
}

interface RigOptions {
  readonly members?: readonly object[];
  readonly more?: object;
  readonly random?: () => number;
}

/** A pool `large` of the given strategy with a member for each of the providers; it is the default. */
const rig = (t: ExecutionContext, strategy: PoolStrategy, count: number, options: RigOptions = {}): Rig => {
  const { members = [], more = {}, random = generator(7) } = options;
  const clock = { nowMs: 1_000_000 };
  const used = names.slice(0, count);
  const config = configOf({
    Providers: used.map((name) => ({ name, baseUrl: `http://${name}.invalid`, apiKey: ['k1', 'k2'], models: ['m'] })),
    Pools: [{ name: 'large', strategy, members: used.map((name, at) => ({ to: `${name},m`, ...members[at] })) }],
    Router: { default: 'large' },
    ...more,
  });
  const gateway = gatewayOf(t, config, { health: createUpstreamHealth({ nowMs: () => clock.nowMs, random }) });
  const question = (request: ModelRequest, asked: string) => ({
    client: messagesClient,
    request,
    progress: { requestedModel: asked },
    admission: undefined,
  });
  const choose = (request = plainRequest, asked = 'any') => {
    const resolution = resolveRoute({ ...request, model: asked }, config);
    const { provider, reason } = gateway.pools.choose(resolution, question(request, asked));
    return { to: provider.name, reason };
  };
  const health = (name: string): ModelHealth => {
    const provider = config.providers.find((one) => one.name === name);
    if (!provider) throw new Error(`no provider ${name}`);
    return gateway.health.of(provider).model('m');
  };
  return {
    gateway,
    clock,
    choose,
    health,
    send(request) {
      const { to } = choose(request);
      for (const pool of config.pools) gateway.pools.taken(pool);
      health(to).load.entered(clock.nowMs);
      return to;
    },
  };
};

/** Mulberry32: the same numbers in each run. */
const generator = (seed: number) => (): number => {
  seed = (seed + 0x6d2b79f5) | 0;
  let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
};

const conversation = (text: string): ModelRequest => ({
  ...plainRequest,
  turns: [{ role: 'user', parts: [{ type: 'text', text, at: 'messages[0].content' }] }],
});

/** Opens a model's breaker. */
const breakOpen = ({ gateway, clock, health }: Rig, name: string): void => {
  const failure = {
    failureClass: 'transient',
    key: 'k1',
    probe: false,
    counted: false,
    isAnswered: true,
    requestedWaitMs: undefined,
  } as const;
  for (let count = 0; count < 5; count += 1) health(name).failed(failure, clock.nowMs, gateway.config);
};

const rest = ({ gateway, clock, health }: Rig, name: string, ...keys: readonly string[]): void => {
  const failure = {
    failureClass: 'rateLimited',
    probe: false,
    counted: false,
    isAnswered: true,
    requestedWaitMs: 60_000,
  } as const;
  for (const key of keys) health(name).failed({ ...failure, key }, clock.nowMs, gateway.config);
};

test('weighted: each gets its share within 2 % of 10,000 requests, whatever the weights', (t) => {
  const requests = 10_000;
  t.notThrows(() =>
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 2, maxLength: 8 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (weights, start) => {
          const members = weights.map((weight) => ({ weight }));
          const { send } = rig(t, 'weighted', weights.length, { members, random: () => start });
          const got = new Map<string, number>();
          for (let count = 0; count < requests; count += 1) {
            const to = send();
            got.set(to, (got.get(to) ?? 0) + 1);
          }
          const total = weights.reduce((sum, weight) => sum + weight, 0);
          return weights.every(
            (weight, at) => Math.abs((got.get(names[at] ?? '') ?? 0) / requests - weight / total) < 0.02,
          );
        },
      ),
      { numRuns: 10 },
    ),
  );
});

test('sticky: a conversation stays while the members stand, and about 1/n move if one goes', (t) => {
  const conversations = Array.from({ length: 4_000 }, (_, at) => conversation(`task number ${at}`));
  for (const count of [2, 3, 5, 8]) {
    const all = rig(t, 'sticky', count);
    const before = conversations.map((request) => all.choose(request).to);
    t.deepEqual(
      conversations.map((request) => all.choose(request).to),
      before,
      'no one moves',
    );
    const gone = names[count - 1] ?? '';
    const share = before.filter((name) => name === gone).length / conversations.length;
    t.true(Math.abs(share - 1 / count) < 0.03, `${gone} has ${share} of 1/${count}`);

    const fewer = rig(t, 'sticky', count - 1);
    const moved = before.filter((name, at) => fewer.choose(conversations[at]).to !== name);
    t.deepEqual(new Set(moved), new Set([gone]), 'only its own move');

    breakOpen(all, gone);
    t.deepEqual(
      conversations.map((request) => all.choose(request).to),
      conversations.map((request) => fewer.choose(request).to),
      'an open breaker moves the same ones',
    );
    all.clock.nowMs += 60_000;
    t.deepEqual(
      conversations.map((request) => all.choose(request).to),
      before,
      'and they come back',
    );
  }
});

test('sticky: weights are shares of the conversations', (t) => {
  const { choose } = rig(t, 'sticky', 2, { members: [{ weight: 3 }, { weight: 1 }] });
  const all = Array.from({ length: 4_000 }, (_, at) => choose(conversation(`task number ${at}`)).to);
  t.true(Math.abs(all.filter((name) => name === 'a').length / all.length - 0.75) < 0.03);
});

test('sticky: later turns belong to the conversation', (t) => {
  const { choose } = rig(t, 'sticky', 8);
  for (const text of ['one', 'two', 'three', 'four']) {
    const first = conversation(text);
    const later: ModelRequest = {
      ...first,
      turns: [...first.turns, { role: 'assistant', parts: [] }, ...conversation('go on').turns],
    };
    t.is(choose(later).to, choose(first).to);
  }
});

test('least-busy: the one with the fewest in flight; equal ones in turn', (t) => {
  const { send, health } = rig(t, 'least-busy', 3);
  const first = [send(), send(), send()];
  t.deepEqual([...first].sort(), ['a', 'b', 'c']);
  health('b').load.left();
  t.is(send(), 'b');
  const counts = Array.from({ length: 297 }, () => send());
  t.deepEqual(
    ['a', 'b', 'c'].map((name) => counts.filter((to) => to === name).length),
    [99, 99, 99],
  );
});

test('fastest: most requests go to the member whose answers begin first', (t) => {
  const { send, health, clock } = rig(t, 'fastest', 4);
  const speeds = new Map([
    ['a', 900],
    ['b', 100],
    ['c', 600],
    ['d', 500],
  ]);
  const got = new Map<string, number>();
  for (let count = 0; count < 1_000; count += 1) {
    const to = send();
    clock.nowMs += 100;
    health(to).load.began(speeds.get(to) ?? 0, clock.nowMs);
    health(to).load.left();
    got.set(to, (got.get(to) ?? 0) + 1);
  }
  const share = (name: string): number => (got.get(name) ?? 0) / 1_000;
  // Of two at random, the fastest of four is there half the time and wins then.
  t.true(share('b') > 0.45, `${share('b')}`);
  t.true(share('b') > share('d') && share('d') > share('c') && share('c') > share('a'));
});

test('fastest: a member that was slow is asked again after a while, by one request', (t) => {
  const { send, health, clock } = rig(t, 'fastest', 2);
  health('a').load.began(4_000, clock.nowMs);
  health('b').load.began(1_000, clock.nowMs);
  for (let count = 0; count < 20; count += 1) t.is(send(), 'b');
  clock.nowMs += 59_000;
  health('b').load.began(1_000, clock.nowMs);
  t.is(send(), 'b');
  clock.nowMs += 2_000;
  health('b').load.began(1_000, clock.nowMs);
  t.deepEqual([send(), send(), send()], ['a', 'b', 'b'], 'only one waits for the answer that may be slow');
});

test('fastest: each member is measured once, and a failing one is not fast', (t) => {
  const { send, health, clock } = rig(t, 'fastest', 2);
  const [one, other] = [send(), send()];
  t.not(one, other, 'the second does not wait for what the first will show');
  health(one).load.failed(clock.nowMs);
  health(other).load.began(3_000, clock.nowMs);
  t.is(send(), other);
});

const passing: readonly (readonly [title: string, hit: (rig: Rig) => void, why: string])[] = [
  ['an open breaker', (one) => breakOpen(one, 'a'), 'its breaker is open'],
  ['keys at rest', (one) => rest(one, 'a', 'k1', 'k2'), 'all its keys are cooling down'],
];
for (const strategy of ['weighted', 'fastest', 'least-busy', 'sticky'] as const) {
  for (const [title, hit, why] of passing) {
    test(`${strategy} passes a member with ${title}`, (t) => {
      const one = rig(t, strategy, 3);
      hit(one);
      const got = new Set(Array.from({ length: 50 }, (_, at) => one.choose(conversation(`${at}`)).to));
      t.false(got.has('a'), why);
      const { pools, config } = one.gateway;
      const [pool] = config.pools;
      const question = {
        client: messagesClient,
        request: plainRequest,
        progress: { requestedModel: 'any' },
        admission: undefined,
      };
      t.deepEqual(pool && pools.states(pool, 'default', question).map(({ passed }) => passed), [
        why,
        undefined,
        undefined,
      ]);
      t.is(pool && pools.ranked(pool, 'default', question).length, 2);
    });
  }

  test(`${strategy}: one key at rest is not all, and without any member that can be used one is chosen all the same`, (t) => {
    const one = rig(t, strategy, 2);
    rest(one, 'a', 'k1');
    rest(one, 'b', 'k1', 'k2');
    t.is(one.choose().to, 'a');
    rest(one, 'a', 'k2');
    t.regex(one.choose().reason, /; pool large, [a-z-]+: [ab],m, no member can be used now$/);
  });

  test(`${strategy} passes a provider whose variable is not set`, (t) => {
    const { choose } = rig(t, strategy, 2, {
      more: {
        Providers: names.slice(0, 2).map((name) => ({
          name,
          baseUrl: `http://${name}.invalid`,
          apiKey: name === 'a' ? '$UNSET' : 'k',
          models: ['m'],
        })),
      },
    });
    const { to, reason } = choose();
    t.is(to, 'b');
    t.is(
      reason,
      `default: no scenario with a route fits; pool large, ${strategy}: b,m, the only member that can be used`,
    );
  });
}

const models = [{ models: ['claude-opus*', 'big'] }, { models: ['*haiku*'] }];

test('members serve the models that they name; a client that names the pool may get any', (t) => {
  const { choose } = rig(t, 'weighted', 2, { members: models });
  t.is(choose(plainRequest, 'claude-opus-5-5').to, 'a');
  t.is(choose(plainRequest, 'big').to, 'a');
  t.is(choose(plainRequest, 'my-haiku-3').to, 'b');
  t.regex(choose(plainRequest, 'large').reason, /its turn by weight, 1 of 2$/);
  const error = t.throws(() => choose(plainRequest, 'small'));
  t.is(error?.message, 'The pool "large" has no member for the model "small".');
});

test('a route to a pool without a member for the model is skipped', (t) => {
  const { gateway } = rig(t, 'weighted', 2, {
    members: models,
    more: { Router: { default: 'a,m', routes: { background: 'large', think: 'large' } } },
  });
  const asked = (model: string) =>
    resolveRoute({ ...plainRequest, model, reasoning: { mode: 'on', budget: 9 } }, gateway.config);
  t.is(asked('haiku').scenario, 'background');
  const { scenario, warnings } = asked('gpt');
  t.is(scenario, 'default');
  t.deepEqual(warnings, ['the route think leads to the pool large, which has no member for this model']);
});

test('what is known of a member outlives a configuration in which it stays', (t) => {
  const before = rig(t, 'least-busy', 2);
  before.send();
  const [busy] = names.slice(0, 2).filter((name) => before.health(name).load.live === 1);
  const again = gatewayOf(t, configOf({ Providers: [], Pools: [] }), { health: before.gateway.health });
  t.is(again.config.pools.length, 0);
  const next = configOf({
    Providers: names
      .slice(0, 2)
      .map((name) => ({ name, baseUrl: `http://${name}.invalid`, apiKey: 'k', models: ['m'] })),
    Pools: [{ name: 'renamed', strategy: 'least-busy', members: [{ to: 'a,m' }, { to: 'b,m' }] }],
    Router: { default: 'renamed' },
  });
  const after = gatewayOf(t, next, { health: before.gateway.health });
  const question = {
    client: messagesClient,
    request: plainRequest,
    progress: { requestedModel: 'any' },
    admission: undefined,
  };
  const { provider } = after.pools.choose(resolveRoute(plainRequest, next), question);
  t.not(provider.name, busy);
});
