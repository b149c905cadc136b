import test from 'ava';
import type { Config, RouterConfig } from '../../../engine/config/config.ts';
import { FaultError } from '../../../engine/model/fault.ts';
import type { ModelRequest, TextPart, Turn } from '../../../engine/model/request.ts';
import { needsTokenCount, type Resolution, resolveRoute } from '../../../engine/routing/resolve.ts';
import type { PromptSize } from '../../../engine/routing/tokens/prompt-tokens.ts';
import { plainRequest } from '../../support/context.ts';
import { configWith, provider } from './providers.ts';

const alpha = provider('Alpha', 'big', 'small', 'shared');
const beta = provider('beta', 'a/b:c', 'shared', 'x,y');
const routes: RouterConfig['routes'] = {
  longContext: 'Alpha,big',
  image: 'beta,a/b:c',
  webSearch: 'beta,shared',
  background: 'small',
  think: 'alpha,big',
};
const full = configWith([alpha, beta], { default: 'beta,shared', longContextThreshold: 1000, routes });
const bare = configWith([alpha, beta]);

const resolve = (over: Partial<ModelRequest>, config: Config = full, size?: PromptSize): Resolution =>
  resolveRoute({ ...plainRequest, ...over }, config, size);

const system = (text: string): readonly TextPart[] => [{ type: 'text', text }];
const withImage: readonly Turn[] = [
  { role: 'user', parts: [{ type: 'image', source: { kind: 'url', url: 'u' }, detail: 'low' }] },
];
const tag = '<JUNCTOR-MODEL>beta,x,y</JUNCTOR-MODEL>';
const thinking = { mode: 'on', budget: 5000 } as const;

const cases: readonly (readonly [string, Partial<ModelRequest>, Config, string, string])[] = [
  ['an explicit one', { model: 'Alpha,big' }, full, 'Alpha,big;explicit', 'explicit: the model asked for is Alpha,big'],
  [
    'one in another case',
    { model: 'ALPHA, small' },
    full,
    'Alpha,small;explicit',
    'explicit: the model asked for is Alpha,small',
  ],
  [
    'a model with a comma',
    { model: 'beta,x,y' },
    bare,
    'beta,x,y;explicit',
    'explicit: the model asked for is beta,x,y',
  ],
  [
    'an explicit one before all rules',
    { model: 'Alpha,haiku', reasoning: thinking, turns: withImage },
    full,
    'Alpha,haiku;explicit',
    'explicit: the model asked for is Alpha,haiku',
  ],
  [
    'a tag before all scenarios',
    { model: 'haiku', system: system(`${tag}x`), turns: withImage },
    full,
    'beta,x,y;tag',
    'tag: the system prompt names beta,x,y',
  ],
  [
    'a tag with a bare model',
    { system: system('<CCR-SUBAGENT-MODEL>small</CCR-SUBAGENT-MODEL>') },
    full,
    'Alpha,small;tag',
    'tag: the system prompt names Alpha,small',
  ],
  ['the default', { model: 'claude' }, full, 'beta,shared;default', 'default: no scenario with a route fits'],
  [
    'the default before lists',
    { model: 'small' },
    full,
    'beta,shared;default',
    'default: no scenario with a route fits',
  ],
  ['the only list', { model: 'a/b:c' }, bare, 'beta,a/b:c;model', 'model: only beta lists a/b:c'],
  [
    'a small task',
    { model: 'claude-haiku-9' },
    full,
    'Alpha,small;background',
    'background: the model asked for is a haiku',
  ],
  ['thinking', { reasoning: thinking }, full, 'Alpha,big;think', 'think: thinking is on with a budget of 5,000 tokens'],
  [
    'a high effort of a chat client',
    { reasoning: { effort: 'high', wire: 'chat' } },
    full,
    'Alpha,big;think',
    'think: the effort asked for is high',
  ],
  [
    "a Messages client's usual effort",
    { reasoning: { mode: 'adaptive', effort: 'high', wire: 'messages' } },
    full,
    'beta,shared;default',
    'default: no scenario with a route fits',
  ],
  [
    "a Messages client's greatest effort",
    { reasoning: { mode: 'adaptive', effort: 'max', wire: 'messages' } },
    full,
    'Alpha,big;think',
    'think: the effort asked for is max',
  ],
  [
    "a message's effort",
    { turns: [{ role: 'system', parts: [], effort: 'xhigh' }] },
    full,
    'Alpha,big;think',
    'think: the effort asked for is xhigh',
  ],
  [
    "a message's usual effort",
    { turns: [{ role: 'system', parts: [], effort: 'high' }] },
    full,
    'beta,shared;default',
    'default: no scenario with a route fits',
  ],
  [
    'the last effort',
    {
      reasoning: { effort: 'max', wire: 'messages' },
      turns: [{ role: 'system', parts: [], effort: 'low' }],
    },
    full,
    'beta,shared;default',
    'default: no scenario with a route fits',
  ],
  [
    'a small task before thinking',
    { model: 'haiku', reasoning: thinking },
    full,
    'Alpha,small;background',
    'background: the model asked for is a haiku',
  ],
  [
    'an image before a small task',
    { model: 'haiku', turns: withImage },
    full,
    'beta,a/b:c;image',
    'image: the newest user turn has an image',
  ],
  [
    'a scenario without a route is skipped',
    { model: 'haiku', turns: withImage },
    configWith([alpha], { routes: { background: 'small' } }),
    'Alpha,small;background',
    'background: the model asked for is a haiku',
  ],
];
for (const [title, over, config, route, reason] of cases) {
  test(title, (t) => {
    const resolution = resolve(over, config);
    t.is(`${resolution.provider.name},${resolution.model};${resolution.scenario}`, route);
    t.is(resolution.reason, reason);
    t.is(resolution.request.model, resolution.model);
    t.is(resolution.tokens, undefined);
  });
}

test('a long request', (t) => {
  const counted = resolve({ model: 'haiku', system: system('<JUNCTOR-MODEL></JUNCTOR-MODEL>a') }, full, {
    tokens: 81_230,
    by: 'count',
  });
  t.is(counted.scenario, 'longContext');
  t.is(counted.reason, 'longContext: 81,230 tokens > 1,000');
  t.is(counted.tokens, 81_230);
  const bound = resolve({}, full, { tokens: 1001, by: 'bound' });
  t.is(bound.reason, 'longContext: at least 1,001 tokens > 1,000');
  t.is(bound.tokens, undefined, 'a bound is no count');
});

test('a request that isn’t long continues to the other rules, with its count', (t) => {
  const resolution = resolve({ reasoning: thinking }, full, { tokens: 1000, by: 'count' });
  t.deepEqual([resolution.scenario, resolution.tokens], ['think', 1000]);
});

const sizes: readonly (readonly [string, Partial<ModelRequest>, Config, boolean])[] = [
  ['a bare model', { model: 'any' }, full, true],
  ['an empty tag', { system: system('<JUNCTOR-MODEL></JUNCTOR-MODEL>a') }, full, true],
  ['no route for long requests', {}, configWith([alpha], { routes: { think: 'big' } }), false],
  ['an explicit model', { model: 'Alpha,big' }, full, false],
  ['an alias', { model: 'junctor-default' }, full, false],
  ['a tag', { system: system(tag) }, full, false],
];
for (const [title, over, config, matters] of sizes) {
  test(`${title}: the size ${matters ? 'may decide' : 'is of no matter'}`, (t) => {
    t.is(needsTokenCount({ ...plainRequest, ...over }, config), matters);
  });
}

test('the tag goes whichever rule decides', (t) => {
  const tagged = { system: system(`${tag}x`) };
  const resolution = resolve({ ...tagged, model: 'Alpha,big' });
  t.deepEqual([resolution.scenario, resolution.tagged, resolution.request.system], ['explicit', true, system('x')]);
  t.deepEqual(resolution.warnings, ['the tag for beta,x,y has no effect: the model names a provider']);
  t.false(resolve({ model: 'Alpha,big', system: system('x') }).tagged);
});

test('a model that its provider does not list is allowed, with a warning', (t) => {
  t.deepEqual(resolve({ model: 'Alpha,new' }).warnings, ["provider Alpha doesn't list the model new"]);
  t.deepEqual(resolve({ model: 'Alpha,big' }).warnings, []);
});

test('a route that leads nowhere is passed over, with a warning', (t) => {
  const config = configWith([alpha], { default: 'gone,m', routes: { think: 'gone,m' } });
  const resolution = resolve({ model: 'small', reasoning: thinking }, config);
  t.is(resolution.scenario, 'model');
  t.deepEqual(resolution.warnings, ['the route think leads nowhere: gone,m', 'Router.default leads nowhere: gone,m']);
});

const failures: readonly (readonly [string, Partial<ModelRequest>, Config, string, string, string])[] = [
  ['no model', { model: ' ' }, full, 'invalid-request', 'model', 'model must not be blank.'],
  [
    'no provider before the comma',
    { model: ',m' },
    full,
    'invalid-request',
    'model',
    'model must name a provider and a model, as in `provider,model`.',
  ],
  [
    'no model after the comma',
    { model: 'Alpha,' },
    full,
    'invalid-request',
    'model',
    'model must name a provider and a model, as in `provider,model`.',
  ],
  [
    'an unknown provider',
    { model: 'alhpa,big' },
    full,
    'no-route',
    'model',
    'There is no provider "alhpa". Known providers: Alpha, beta. Did you mean "Alpha,big"?',
  ],
  [
    'an unknown model',
    { model: 'smal' },
    bare,
    'no-route',
    'model',
    'No provider lists the model "smal". Ask for `provider,model`, or set Router.default. Known providers: Alpha, beta. Did you mean "Alpha,small"?',
  ],
  [
    'a model that two list',
    { model: 'shared' },
    bare,
    'no-route',
    'model',
    '2 providers list the model "shared". Ask for `provider,model`, or set Router.default. Known providers: Alpha, beta. Did you mean "Alpha,shared" or "beta,shared"?',
  ],
  [
    'no providers',
    { model: 'm' },
    configWith([]),
    'no-route',
    'model',
    'No provider lists the model "m". Ask for `provider,model`, or set Router.default. No providers are configured.',
  ],
  [
    'a tag for an unknown provider',
    { system: system('<JUNCTOR-MODEL>z,m</JUNCTOR-MODEL>') },
    full,
    'no-route',
    'system',
    'There is no provider "z". Known providers: Alpha, beta.',
  ],
  [
    'a tag for an unknown model',
    { system: system('<JUNCTOR-MODEL>zzz</JUNCTOR-MODEL>') },
    full,
    'no-route',
    'system',
    'No provider lists the model "zzz". Name it as `provider,model`. Known providers: Alpha, beta.',
  ],
];
for (const [title, over, config, kind, param, message] of failures) {
  test(`a fault: ${title}`, (t) => {
    const error = t.throws(() => resolve(over, config), { instanceOf: FaultError });
    t.deepEqual(error?.fault, { kind, param, message });
  });
}

test("a fault quotes a client's text in part", (t) => {
  const error = t.throws(() => resolve({ model: `${'x'.repeat(100_000)},m` }), { instanceOf: FaultError });
  t.true((error?.message.length ?? 0) < 300);
});
