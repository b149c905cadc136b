import test from 'ava';
import { formatFinding } from '../../../../engine/config/diagnostics.ts';
import { validateConfig } from '../../../../engine/config/validate.ts';
import type { JsonObject } from '../../../../engine/model/json/json.ts';

const check = (rules: unknown) => {
  const source: JsonObject = JSON.parse(
    JSON.stringify({
      Providers: [{ name: 'work', baseUrl: 'http://h.example', apiKey: 'k', models: ['large', 'small'] }],
      Router: { default: 'work,large', rules },
    }),
  );
  return validateConfig(source, {});
};

const to = 'work,small';
const rule = (when: unknown, more: object = {}): object => ({ name: 'r', when, to, ...more });
const when = 'Router.rules[0].when';

const faults: readonly (readonly [string, unknown, readonly (string | RegExp)[]])[] = [
  ['no list', {}, ['Router.rules must be array']],
  [
    'nothing',
    [{}],
    ['Router.rules[0].name is required', 'Router.rules[0].when is required', 'Router.rules[0].to is required'],
  ],
  ['too many', Array.from({ length: 101 }, () => rule({})), [/^Router\.rules must not have more than 100 items/]],
  ['a name with a blank', [rule({}, { name: 'a b' })], [/^Router\.rules\[0\]\.name must be 1 to 64 letters/]],
  [
    'a name twice',
    [rule({ client: 'chat' }), rule({ images: true }, { name: 'R' })],
    ['Router.rules[1].name is the name of Router.rules[0] too'],
  ],
  ['an unknown member', [rule({}, { iff: 'x' })], [/^Router\.rules\[0\].iff is unknown/]],
  ['an unknown fact', [rule({ modle: 'a' })], [`${when}.modle is unknown and has no effect; did you mean model?`]],
  [
    'an unknown fact below joins',
    [rule({ all: [{ any: [{ not: { tool: 'a' } }] }] })],
    [`${when}.all[0].any[0].not.tool is unknown and has no effect; did you mean tools?`],
  ],
  [
    'an unknown protocol',
    [rule({ client: 'gemini' })],
    [new RegExp(`^${when.replace('[0]', '\\[0\\]')}\\.client must be`)],
  ],
  ['a mistyped protocol', [rule({ client: 'mesages' })], [/client must be .* or array; did you mean messages\?$/]],
  ['a blank glob', [rule({ model: ' ' })], [`${when}.model must not be blank`]],
  ['a blank glob of several', [rule({ tools: ['a', ''] })], [`${when}.tools[1] must not be blank`]],
  ['no globs', [rule({ key: [] })], [/when\.key must/]],
  ['a glob with two stars', [rule({ path: '/v1/**' })], [/when\.path must not have `\*\*`/]],
  ['a glob that is too long', [rule({ model: 'm'.repeat(501) })], [`${when}.model must have at most 500 characters`]],
  ['a text that is blank', [rule({ system: ['', 'a'] })], [`${when}.system[0] must not be blank`]],
  ['a header that is none', [rule({ headers: { 'a b': true } })], [`${when}.headers.a b is not the name of a header`]],
  ['a header with a key', [rule({ headers: { 'X-Api-Key': 'a*' } })], [/headers\.X-Api-Key may hold a secret/]],
  ['a header with a credential', [rule({ headers: { authorization: true } })], [/headers\.authorization may hold/]],
  ['a header as a number', [rule({ headers: { a: 1 } })], [`${when}.headers.a must be boolean, string or array`]],
  ['a flag as text', [rule({ images: 'yes' })], [`${when}.images must be boolean`]],
  ['no bounds', [rule({ tokens: {} })], [`${when}.tokens must have \`over\` or \`under\``]],
  ['an unknown bound', [rule({ turns: { above: 1, over: 2 } })], [/when\.turns\.above is unknown/]],
  ['a negative bound', [rule({ tokens: { over: -1 } })], [`${when}.tokens.over must be >= 0`]],
  ['no time', [rule({ time: { from: '09:00' } })], [`${when}.time.to is required`]],
  [
    'a time of 24 hours',
    [rule({ time: { from: '9:00', to: '24:00' } })],
    [/time\.from must be a/, /time\.to must be a/],
  ],
  ['equal times', [rule({ time: { from: '09:00', to: '09:00' } })], [`${when}.time.to must differ from \`from\``]],
  [
    'an unknown time zone',
    [rule({ time: { from: '09:00', to: '10:00', zone: 'Europe/Berln' } })],
    [/time\.zone isn't a time zone; did you mean Europe\/Berlin/],
  ],
  ['an unknown member of a time', [rule({ time: { from: '09:00', to: '10:00', tz: 'UTC' } })], [/time\.tz is unknown/]],
  ['nothing to join', [rule({ all: [], any: [] })], [`${when}.all must not be empty`, `${when}.any must not be empty`]],
  ['a join that is no list', [rule({ any: { client: 'chat' } })], [`${when}.any must be array`]],
  [
    'too many facts',
    [rule({ any: Array.from({ length: 60 }, () => ({ not: { images: true } })) })],
    [`${when} has more than 100 facts and joins`],
  ],
  ['no destination', [rule({}, { to: ' ' })], ['Router.rules[0].to must not be blank']],
  ['no destinations', [rule({}, { to: [] })], [/^Router\.rules\[0\]\.to must/]],
  [
    'an unknown provider',
    [rule({}, { to: 'wrk,small' })],
    ['Router.rules[0].to names the unknown provider "wrk"; known providers: "work"'],
  ],
  [
    'an unknown model as a fallback',
    [rule({}, { to: ['small', 'smal'] })],
    [/^Router\.rules\[0\]\.to\[1\] must be `provider,model` .*did you mean "small"\?/],
  ],
];
for (const [title, rules, expected] of faults) {
  test(`Router.rules: ${title}`, (t) => {
    const result = check(rules);
    const found = 'faults' in result ? result.faults.map(formatFinding) : [];
    t.is(found.length, expected.length, found.join('\n'));
    for (const [index, want] of expected.entries()) {
      if (typeof want === 'string') t.is(found[index], want);
      else t.regex(found[index] ?? '', want);
    }
  });
}

const warnings: readonly (readonly [string, readonly unknown[], RegExp | undefined])[] = [
  ['tokens', [{ tokens: { over: 10, under: 11 } }], /never holds: no number of tokens is over 10 and under 11/],
  ['tokens that fit', [{ tokens: { over: 10, under: 12 } }], undefined],
  ['turns of two members', [{ turns: { over: 5 }, all: [{ turns: { under: 3 } }] }], /no number of turns/],
  ['two protocols', [{ client: 'chat', all: [{ client: ['messages', 'responses'] }] }], /two client protocols/],
  ['protocols that overlap', [{ client: 'chat', all: [{ client: ['messages', 'chat'] }] }], undefined],
  ['a flag both ways', [{ images: true, all: [{ images: false }] }], /images is both true and false/],
  [
    'a header that is there and is not',
    [{ headers: { 'x-a': false }, all: [{ headers: { 'X-A': 'b' } }] }],
    /headers\.x-a is both absent and present/,
  ],
  ['a model with a provider', [{ model: 'work,*' }], /a model with a comma names its provider/],
  ['one of two models with a provider', [{ model: ['work,*', 'a'] }], undefined],
  ['a fact and its opposite', [{ key: 'a', not: { key: 'a' } }], /what it requires is what `not` excludes/],
  ['nothing', [{ not: {} }], /`not` is about every request/],
  ['no alternative', [{ images: true, any: [{ images: false }, { tokens: { under: 2, over: 3 } }] }], /both true and/],
  ['one alternative', [{ images: true, any: [{ images: false }, { client: 'chat' }] }], undefined],
  ['after one that always matches', [{}, { client: 'chat' }], /it comes after r0, which matches every request/],
  [
    'after one that always matches, by joins',
    [{ any: [{ images: true }, { all: [{}] }] }, { client: 'chat' }],
    /after r0/,
  ],
  ['after the same', [{ model: 'a' }, { model: 'a' }], /after r0, which matches all of its requests/],
  ['after a wider one', [{ model: 'a' }, { client: 'chat', all: [{ model: 'a' }] }], /after r0, which matches all/],
  ['after a narrower one', [{ model: 'a', client: 'chat' }, { model: 'a' }], undefined],
  ['a mistyped class', [{ requestClass: 'subagnet' }], /names the unknown class "subagnet"; did you mean subagent\?/],
  ['a class that is not known yet', [{ requestClass: ['planner', 'sub*'] }], undefined],
];
for (const [title, conditions, expected] of warnings) {
  test(`a rule that never matches: ${title}`, (t) => {
    const result = check(conditions.map((one, index) => ({ name: `r${index}`, when: one, to })));
    t.true('config' in result, JSON.stringify('faults' in result && result.faults));
    const found = result.warnings.map(formatFinding);
    if (expected === undefined) t.deepEqual(found, []);
    else t.regex(found.join('\n'), expected);
  });
}

test('rules are read in order, each with its destination and its fallbacks', (t) => {
  const result = check([rule({ client: 'chat' }, { to: ['small', ' work,large '] }), rule({}, { name: 'q' })]);
  t.deepEqual('config' in result && result.config.router.rules, [
    { name: 'r', when: { client: 'chat' }, to: ['small', 'work,large'] },
    { name: 'q', when: {}, to: ['work,small'] },
  ]);
});
