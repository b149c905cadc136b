import test from 'ava';
import { MissingCapabilities } from '../../../engine/routing/missing.ts';
import type { PlanKey } from '../../../engine/routing/plan/plan.ts';
import { messagesClient } from '../../../protocols/messages/index.ts';
import { configOf, gatewayOf } from '../../support/gateway-of.ts';

test('what an upstream lacks is remembered by plan and capability, for ten minutes', (t) => {
  const config = configOf({
    Providers: [{ name: 'p', baseUrl: 'http://p.invalid', apiKey: 'k', models: ['m', 'n'] }],
  });
  const [provider] = config.providers;
  const planOf = (model: string) => {
    if (!provider) throw new Error('no provider');
    const key: PlanKey = { client: messagesClient, provider, model };
    return gatewayOf(t, config).planFor(key);
  };
  const [plan, other] = [planOf('m'), planOf('n')];
  let nowMs = -3_600_000;
  const missing = new MissingCapabilities(() => nowMs);
  t.false(missing.has(plan, 'compaction'), 'whatever the clock says');

  missing.add(plan, 'compaction');
  nowMs += 599_999;
  t.true(missing.has(plan, 'compaction'));
  t.false(missing.has(plan, 'counting'));
  t.false(missing.has(other, 'compaction'));
  t.false(missing.has(planOf('m'), 'compaction'), 'a new configuration asks again');

  nowMs += 1;
  t.false(missing.has(plan, 'compaction'));
  missing.add(plan, 'compaction');
  t.true(missing.has(plan, 'compaction'));
});
