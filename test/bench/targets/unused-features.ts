import { fileURLToPath } from 'node:url';
import { junctorIn } from '../../../engine/bench/targets/junctor.ts';

const other = { name: 'other', baseUrl: 'http://127.0.0.1:9', apiKey: 'bench', models: ['m', 'n'] };

/** This checkout with rules, pools, stages and additions to calls that no request of the bench uses. */
export const target = junctorIn(fileURLToPath(new URL('../../../', import.meta.url)), 'unused', {
  Providers: [{ ...other, headers: { 'x-bench': '1' }, body: { seed: 7 }, otherBaseUrls: ['http://127.0.0.1:9/b'] }],
  Pools: [{ name: 'pool', strategy: 'sticky', members: [{ to: 'other,m' }, { to: 'other,n' }] }],
  rules: [{ name: 'rule', when: { headers: { 'x-team': 'bench' } }, to: 'pool' }],
  transformers: [{ name: 'cachepoints', provider: 'other' }],
});
