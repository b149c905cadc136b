import test from 'ava';
import type { NamedClient } from '../../../engine/config/config.ts';
import { faultOf } from '../../../engine/model/fault.ts';
import { accessOf, compileAccess } from '../../../engine/routing/client-access.ts';
import { configWith, provider } from './providers.ts';

const p = provider('p', 'small', 'large');
const q = provider('q', 'small');
const config = configWith([p, q]);

test('a key that was revoked after the head of its request is refused', (t) => {
  const fault = (() => {
    try {
      return accessOf(compileAccess([]), 'team');
    } catch (error) {
      return faultOf(error);
    }
  })();
  t.like(fault, { kind: 'unauthorized', message: 'The key of the client team has been revoked.' });
});

const refusal = (
  client: Pick<NamedClient, 'models'> | Pick<NamedClient, 'routes'>,
  scenario: string,
  model = 'small',
  preset?: string,
) => {
  const access = compileAccess([{ name: 'team', keyHash: '', limits: {}, ...client }]).get('team');
  try {
    access?.assertAllowed({ provider: p, model, scenario, preset }, config);
    return undefined;
  } catch (error) {
    return faultOf(error);
  }
};

test('a model without a comma counts at every provider, one with a comma at its own', (t) => {
  const allowed = (models: readonly string[]): readonly string[] => {
    const access = compileAccess([{ name: 'team', keyHash: '', limits: {}, models }]).get('team');
    return [p, q].flatMap((one) =>
      one.models.flatMap((model) => (access?.allowsModel({ provider: one, model }) ? [`${one.name},${model}`] : [])),
    );
  };
  t.deepEqual(allowed(['small']), ['p,small', 'q,small']);
  t.deepEqual(allowed(['p , small']), ['p,small']);
  t.deepEqual(allowed(['p,*', 'nothing']), ['p,small', 'p,large']);
  t.deepEqual(allowed(['*']), ['p,small', 'p,large', 'q,small']);
});

test('what is not allowed is refused with the names that are', (t) => {
  t.is(refusal({}, 'default'), undefined);
  t.deepEqual(refusal({ models: ['q,*'] }, 'default', 'large'), {
    kind: 'forbidden',
    message: 'The client team may not use "p,large". It may use: q,small.',
    param: 'model',
    code: 'model_not_allowed',
  });
  t.regex(refusal({ models: ['none'] }, 'default')?.message ?? '', /It may use: no model that is configured\.$/);
  t.deepEqual(refusal({ routes: ['default', 'think'] }, 'explicit'), {
    kind: 'forbidden',
    message: 'The client team may not use the route explicit. It may use: default; think.',
    code: 'route_not_allowed',
  });
  t.true((refusal({ models: ['x'] }, 'default', 'y'.repeat(100_000))?.message.length ?? 0) < 500);
});

for (const [scenario, preset, routes, allowed] of [
  ['tag', undefined, ['explicit'], true],
  ['tag', undefined, ['default'], false],
  ['model', undefined, ['default'], true],
  ['think', undefined, ['think'], true],
  ['think', 'x', ['think'], false],
  ['think', 'x', ['preset/x'], true],
  ['default', 'y', ['preset/x'], false],
] as const) {
  test(`the rule ${scenario} in ${preset ?? 'no preset'} for a client of ${routes}`, (t) =>
    t.is(refusal({ routes }, scenario, 'small', preset) === undefined, allowed));
}
