import { readFileSync } from 'node:fs';
import test from 'ava';
import { parseConfig } from '../../engine/config/parse.ts';
import { factFields, joins } from '../../engine/config/rule-schema.ts';
import { validateConfig } from '../../engine/config/validate.ts';
import type { ModelRequest } from '../../engine/model/request.ts';
import { compileCondition, holds } from '../../engine/routing/rules/condition.ts';
import { messagesClient } from '../../protocols/messages/index.ts';
import { plainRequest } from '../support/context.ts';

const page = readFileSync(new URL('../../docs/rules.md', import.meta.url), 'utf8');

/** The page's rules by name, as the service reads them. */
const rules = new Map(
  [...page.matchAll(/```jsonc?\n([\s\S]*?)```/g)].flatMap(([, block = '']) => {
    const parsed = parseConfig(block);
    const names = ['anthropic', 'google', 'openai', 'local'];
    const Providers = names.map((name) => ({ name, baseUrl: 'http://h.example', apiKey: 'k', models: [] }));
    const result = 'source' in parsed ? validateConfig({ Providers, ...parsed.source }, {}) : parsed;
    return 'config' in result ? (result.config.router.rules ?? []).map((rule) => [rule.name, rule] as const) : [];
  }),
);

interface Asked {
  readonly headers?: Readonly<Record<string, string>>;
  readonly key?: string;
  readonly at?: string;
  readonly tokens?: number;
  readonly request?: Partial<ModelRequest>;
}

const says = (type: string, text: string) => ({ [`x-claude-code-${type}`]: text });
const system = [{ type: 'text', text: 'You are a code reviewer.' }] as const;
const image = { type: 'image', source: { kind: 'url', url: 'u' } } as const;
const call = { role: 'assistant', parts: [{ type: 'tool-call', id: 'c', name: 'look', input: { at: 'a' } }] } as const;
const late = '2026-06-01T23:00+02:00';

const examples: readonly (readonly [name: string, matching: Asked, other: Asked])[] = [
  ['vision', { request: { turns: [{ role: 'user', parts: [image] }] } }, {}],
  [
    'explorers',
    { headers: { ...says('request-class', 'subagent'), ...says('agent-type', 'Explore') } },
    { headers: says('request-class', 'subagent') },
  ],
  ['trial', { key: 'team-a', headers: { 'x-trial': '' } }, { key: 'team-a' }],
  ['night', { at: late }, { at: late, request: { model: 'big-opus' } }],
  ['reviews', { request: { system } }, {}],
  [
    'small',
    { tokens: 10, request: { reasoning: { mode: 'on' } } },
    { tokens: 1_000, request: { reasoning: { mode: 'on' } } },
  ],
  ['rescue', { request: { turns: [call, call] } }, { request: { turns: [call] } }],
];

test('each rule of the page matches what it is meant for, and no other is on it', (t) => {
  t.deepEqual(
    [...rules.keys()],
    examples.map(([name]) => name),
  );
  for (const [name, matching, other] of examples) {
    const condition = compileCondition(rules.get(name)?.when ?? {});
    const verdict = ({ headers = {}, key, at = '2026-06-01T12:00Z', tokens = 0, request }: Asked) =>
      holds(condition, {
        client: messagesClient,
        origin: { path: '/v1/messages', preset: undefined, key },
        header: (header) => headers[header],
        request: { ...plainRequest, ...request },
        atMs: Date.parse(at),
        sizeRelativeTo: () => ({ tokens, by: 'count' }),
      });
    t.true(verdict(matching), name);
    t.false(verdict(other), name);
  }
});

test('the page has every fact and join', (t) => {
  t.deepEqual(
    [...Object.keys(factFields), ...joins].filter((name) => !page.includes(`\`${name}\``)),
    [],
  );
});
