import test from 'ava';
import { configSchema } from '../../../engine/config/json-schema.ts';
import { hideSecrets, secretsIn, shownFindings } from '../../../engine/config/secrets.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../engine/model/json/json.ts';

/** The conditions of rules and of stages. */
const conditions = ['Router.rules[].when', 'transformers[].when'];

/** Text fields that hold no secrets, by the reason. `{}` is any member of a map. */
const harmless: Readonly<Record<string, readonly string[]>> = {
  'a name that users give': [
    'CLIENTS[].name',
    'FLEET.name',
    'FLEET.primary',
    'Pools[].name',
    'Providers[].name',
    'Router.rules[].name',
    'TELEMETRY.service',
    'transformers[]',
    'transformers[].name',
    'transformers[].provider',
    'Providers[].transformer.{}[]',
    'Providers[].transformer.{}.use[]',
  ],
  'the name of a model, or a glob for it': [
    'CLIENTS[].models[]',
    'Pools[].members[].models[]',
    'Providers[].models[]',
    'Providers[].models[].name',
    'transformers[].models[]',
  ],
  'a question to a model, and its answers': conditions.flatMap((at) =>
    ['question', 'answers[]', 'answer'].map((name) => `${at}.decides.${name}`),
  ),
  'a destination or a route': [
    ...conditions.map((at) => `${at}.decides.ask`),
    'CLIENTS[].routes[]',
    'Pools[].members[].to',
    'transformers[].ask[]',
    'Router.rules[].to',
    'Router.rules[].to[]',
    ...['Router', 'Router.routes'].flatMap((at) =>
      ['compact', 'longContext', 'image', 'webSearch', 'background', 'think'].map((name) => `${at}.${name}`),
    ),
    'Router.default',
    ...['Router.fallback', 'fallback'].flatMap((at) =>
      ['default', 'compact', 'longContext', 'image', 'webSearch', 'background', 'think'].map(
        (name) => `${at}.${name}[]`,
      ),
    ),
  ],
  'an address without credentials: a host, a network or an origin': [
    'ALLOWED_HOSTS[]',
    'ALLOWED_ORIGINS[]',
    'HOST',
    'PROXIES[]',
  ],
  'the path of a file': ['$schema', 'FLEET.ca', 'Router.module', 'Router.module.path', 'transformers[].path'],
  'a time': [
    'CLIENTS[].expires',
    ...conditions.flatMap((at) => ['from', 'to', 'zone'].map((name) => `${at}.time.${name}`)),
  ],
  'a glob for what a request says of itself': [
    'agentType',
    'compaction',
    'key',
    'lastTool',
    'model',
    'path',
    'preset',
    'requestClass',
    'system',
    'tools',
  ].flatMap((name) => conditions.flatMap((at) => [`${at}.${name}`, `${at}.${name}[]`])),
  'a prompt, which goes to models': ['Router.compactPrompt'],
  'a command, which is shown so that it can be allowed; what it prints is the secret': [
    'Providers[].apiKey.command[]',
    'Providers[].apiKey[].command[]',
    'Providers[].api_key.command[]',
    'Providers[].api_key[].command[]',
  ],
};

interface TextField {
  readonly path: string;
  readonly mark: Json | undefined;
}

/** All fields of a schema that take a text of one's own; a map or list with a mark is one field. */
const textFieldsOf = (schema: Json | undefined, path = '', defs: JsonObject = {}): readonly TextField[] => {
  if (!isJsonObject(schema)) return [];
  const { secret, type, anyOf, properties, patternProperties, items, $defs, $ref } = schema;
  const named = isJsonObject($defs) ? $defs : defs;
  if (secret !== undefined) return [{ path, mark: secret }];
  if (typeof $ref === 'string') {
    // A condition inside a condition has the same fields.
    return /\.(?:all\[\]|any\[\]|not)$/.test(path) ? [] : textFieldsOf(named[$ref], path, named);
  }
  if (Array.isArray(anyOf)) return anyOf.flatMap((one: Json) => textFieldsOf(one, path, named));
  if (isJsonObject(properties)) {
    return Object.entries(properties).flatMap(([name, one]) =>
      textFieldsOf(one, path === '' ? name : `${path}.${name}`, named),
    );
  }
  if (isJsonObject(patternProperties)) {
    return Object.values(patternProperties).flatMap((one) => textFieldsOf(one, `${path}.{}`, named));
  }
  if (items !== undefined) return textFieldsOf(items, `${path}[]`, named);
  const isAnything = type === undefined && schema.enum === undefined && schema.const === undefined;
  const isText = [type].flat().includes('string') && schema.enum === undefined && schema.const === undefined;
  // Settings that are no texts may be references: `"PORT": "$PORT"`.
  return isAnything || (isText && schema.pattern !== '\\$') ? [{ path, mark: undefined }] : [];
};

const reasonOf = (path: string): string | undefined =>
  Object.entries(harmless).find(([, paths]) => paths.includes(path))?.[0];

const undecided = (schema: JsonObject): readonly string[] => [
  ...new Set(
    textFieldsOf(schema).flatMap(({ path, mark }) =>
      mark === undefined && reasonOf(path) === undefined ? [path] : [],
    ),
  ),
];

test('each text field is marked as secret, or there is a reason why it is not', (t) => {
  t.deepEqual(undecided(configSchema()), []);
  const fields = textFieldsOf(configSchema());
  const unmarked = new Set(fields.flatMap(({ path, mark }) => (mark === undefined ? [path] : [])));
  t.deepEqual(
    Object.values(harmless)
      .flat()
      .filter((path) => !unmarked.has(path)),
    [],
    'fields that are gone, or are marked',
  );
  t.true(fields.some(({ mark }) => mark === 'url'));
});

test('a new field without either is found, wherever it is', (t) => {
  const text = { type: 'string' };
  for (const [field, path] of [
    [text, 'NEW'],
    [{ type: 'array', items: text }, 'NEW[]'],
    [{ type: 'object', patternProperties: { '^.*$': text } }, 'NEW.{}'],
    [{ type: 'object', patternProperties: { '^.*$': {} } }, 'NEW.{}'],
    [{ anyOf: [{ type: 'integer' }, { type: 'object', properties: { inner: text } }] }, 'NEW.inner'],
  ] as const) {
    const { properties } = configSchema();
    const schema = { properties: { ...(isJsonObject(properties) ? properties : {}), NEW: field } };
    t.deepEqual(undecided(schema), [path]);
  }
});

/** What a field of a mark holds, with a secret in it. */
const samples: Readonly<Record<string, (secret: string) => Json>> = {
  text: (secret) => secret,
  url: (secret) => `https://user:${secret}@host.example/v1?api_key=${secret}2`,
  named: (secret) => ({ 'x-api-key': `Bearer ${secret}`, deep: [{ token: `${secret}2` }], plain: 'shown' }),
};

/** A configuration with a value at a path. */
const configAt = (path: string, value: Json): JsonObject => {
  const whole = path
    .split(/\.|(?=\[\])/)
    .reduceRight<Json>((inner, step) => (step === '[]' ? [inner] : { [step === '{}' ? 'any' : step]: inner }), value);
  return isJsonObject(whole) ? whole : {};
};

for (const { path, mark } of textFieldsOf(configSchema())) {
  if (mark === undefined) continue;
  test(`what ${path} holds is hidden, and no message has it: ${String(mark)}`, (t) => {
    const secret = 'n0body-sees';
    const source = configAt(path, samples[String(mark)]?.(secret) ?? '');
    t.false(JSON.stringify(hideSecrets(source)).includes(secret));
    t.is(JSON.stringify(hideSecrets(source)).includes('shown'), mark === 'named');
    const found = secretsIn(source);
    t.true(found.includes(secret));
    t.is(found.includes(`${secret}2`), mark !== 'text');
    const byReference = configAt(path, samples[String(mark)]?.('$HELD') ?? '');
    const env = { HELD: secret };
    const findings = [{ path: 'x', message: `has "${secret}", and ${secret} again` }];
    t.deepEqual(shownFindings(findings, source, {}), [{ path: 'x', message: 'has "***", and *** again' }]);
    t.false(JSON.stringify(shownFindings(findings, byReference, env)).includes(secret));
  });
}
