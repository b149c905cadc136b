import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Validator } from '@cfworker/json-schema';
import test from 'ava';
import { firstRunConfig } from '../../../engine/config/files/first-run.ts';
import { configSchema, schemaReference, schemaText } from '../../../engine/config/json-schema.ts';
import { parseConfig } from '../../../engine/config/parse.ts';
import { defaultSettings } from '../../../engine/config/sections/service-settings.ts';
import { validateConfig } from '../../../engine/config/validate.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../engine/model/json/json.ts';
import { knownVendors } from '../../../engine/service/load-config.ts';
import { formats } from '../../../transformers/index.ts';
import { until } from '../../support/until.ts';
import { openStore, temporaryHome, withProvider } from './files/store-rig.ts';

/** Checks with a validator that isn't the service's own. */
const faultsOf = (value: unknown, schema: JsonObject = configSchema()): readonly string[] =>
  new Validator(schema, '2020-12', false).validate(value).errors.map(({ instanceLocation }) => instanceLocation);

const page = (name: string): Promise<string> => readFile(new URL(`../../../${name}`, import.meta.url), 'utf8');

/** Configurations in the pages, some of which show single fields. */
const examples = async (): Promise<readonly JsonObject[]> => {
  const pages = await Promise.all(
    ['README.md', ...['configuration', 'routing', 'transformers'].map((name) => `docs/${name}.md`)].map(page),
  );
  const blocks = pages.flatMap((text) => [...text.matchAll(/```jsonc\n([\s\S]*?)```/g)].map(([, block = '']) => block));
  return blocks.map((block) => {
    const parsed = parseConfig(/^\s*\{/.test(block) ? block : `{${block}}`);
    if ('source' in parsed) return parsed.source;
    throw new Error(JSON.stringify(parsed.faults));
  });
};

test('the schema allows what a first start writes, what the pages show, and references', async (t) => {
  const vendors = knownVendors(formats);
  const keys = Object.fromEntries(vendors.map(({ variable }) => [variable, 'k']));
  const shown = await examples();
  t.true(shown.length > 2);
  for (const config of [
    {},
    firstRunConfig(vendors, {}).source,
    firstRunConfig(vendors, keys).source,
    { PORT: '$PORT', WORKERS: '$N', LOG: '$LOG', LOG_LEVEL: '$LEVEL', CHAT_STRICT: '$STRICT', HOST: '$HOST' },
    { Providers: [{ name: 'old', api_base_url: 'u', api_key: 'k', models: [], transformer: { use: ['tooluse'] } }] },
    ...shown,
  ]) {
    t.deepEqual(faultsOf(config), [], JSON.stringify(config));
  }
});

for (const [wrong, at] of [
  [{ PORT: 70_000 }, '#/PORT'],
  [{ PORT: 'many' }, '#/PORT'],
  [{ LOG_LEVEL: 'loud' }, '#/LOG_LEVEL'],
  [{ LIMITS: { jsonDepth: 0 } }, '#/LIMITS/jsonDepth'],
  [{ Providers: [{ models: ['m'] }] }, '#/Providers/0'],
  [{ Router: { fallback: { think: 'p,m' } } }, '#/Router/fallback/think'],
  [{ transformers: [{ name: 1 }] }, '#/transformers/0'],
  [{ $schema: 1 }, '#/$schema'],
] as const) {
  test(`the schema and the service reject ${JSON.stringify(wrong)}`, (t) => {
    t.true(faultsOf(wrong).includes(at), faultsOf(wrong).join());
    t.true('faults' in validateConfig(wrong, {}));
  });
}

test('every number of bytes or of time has the unit that its name and description say', (t) => {
  const without: string[] = [];
  const found: string[] = [];
  const walk = (schema: Json | undefined, path: string): void => {
    if (!isJsonObject(schema)) return;
    const { properties, items, anyOf, type, unit, description } = schema;
    if (isJsonObject(properties)) for (const [name, one] of Object.entries(properties)) walk(one, `${path}.${name}`);
    walk(items, `${path}[]`);
    if (Array.isArray(anyOf)) for (const one of anyOf) walk(one, path);
    if (![type].flat().some((one) => one === 'integer' || one === 'number')) return;
    const name = path.slice(path.lastIndexOf('.') + 1);
    const said = `${name.replace(/(?=[A-Z])/g, ' ')} ${description}`;
    if (unit !== undefined) found.push(`${path} ${unit}`);
    else if (/\b(?:bytes|size|ms|(?:milli)?seconds?|minutes?|hours?|days?|time)\b/i.test(said)) without.push(path);
    const suffix = /^(?:bytes|minutes|days)$|(?:Bytes|Ms|Minutes|Days)$/.exec(name)?.[0].toLowerCase();
    if (suffix !== undefined) t.is(unit, suffix, path);
  };
  walk(configSchema(), '');
  // Rates, counts of requests at a time, and a price.
  t.deepEqual(without, [
    '.CLIENTS[].limits.requestsPerMinute',
    '.CLIENTS[].limits.tokensPerMinute',
    '.CLIENTS[].limits.streams',
    '.LIMITS.ratio',
    '.Providers[].models[].price.cacheWrite1h',
  ]);
  for (const one of ['.HISTORY.bytes bytes', '.HISTORY.captureMinutes minutes', '.HISTORY.days days']) {
    t.true(found.includes(one), one);
  }
});

test('every field has a description, and a default or an example that it allows', (t) => {
  const { $defs = {} } = configSchema();
  const walk = (schema: JsonObject, path: string, isField: boolean): void => {
    const {
      properties = {},
      items,
      anyOf = [],
      additionalProperties,
      description,
      default: usual,
      examples: some,
    } = schema;
    if (isField) t.is(typeof description, 'string', path);
    const shown = [...(usual === undefined ? [] : [usual]), ...(Array.isArray(some) ? some : [])];
    const isContainer = isJsonObject(schema.properties) || (isJsonObject(items) && items.type !== 'string');
    if (isField && !isContainer) t.true(shown.length > 0, path);
    for (const value of shown)
      t.deepEqual(faultsOf(value, { ...schema, $defs }), [], `${path} ${JSON.stringify(value)}`);
    for (const [name, field] of Object.entries(properties ?? {}))
      if (isJsonObject(field)) walk(field, `${path}/${name}`, true);
    const parts: readonly (Json | undefined)[] = [items, additionalProperties, ...(Array.isArray(anyOf) ? anyOf : [])];
    for (const part of parts) if (isJsonObject(part)) walk(part, path, false);
  };
  walk(configSchema(), '', false);
});

test('the defaults that the schema names are those in use', (t) => {
  const { LIMITS, PORT }: JsonObject = Object(configSchema().properties);
  t.like(PORT, { default: defaultSettings().port });
  t.like(LIMITS, { properties: { bodyBytes: { default: defaultSettings().limits.bodyBytes } } });
});

test('a file that names the schema gets it beside, as this version has it', async (t) => {
  const plain = withProvider('a');
  const home = temporaryHome(t, JSON.stringify(plain));
  const copy = join(home, 'config.schema.json');
  const { store } = await openStore(t, home, plain);
  t.deepEqual(await readdir(home), ['config.json']);
  await store.replace({ $schema: schemaReference, ...plain });
  t.is(await readFile(copy, 'utf8'), `${schemaText()}\n`);
  await writeFile(copy, 'of another version');
  const { store: later, log } = await openStore(t, home, { $schema: schemaReference, ...plain });
  t.is(await readFile(copy, 'utf8'), `${schemaText()}\n`);
  t.deepEqual(log, []);
  t.deepEqual((await later.check({ $schema: schemaReference, ...plain })).warnings, []);
  const { mtimeMs } = await stat(copy);
  await openStore(t, home, { $schema: schemaReference, ...plain });
  t.is((await stat(copy)).mtimeMs, mtimeMs, 'it is not written anew');
});

test('a file that is edited to name the schema gets it', async (t) => {
  const plain = withProvider('a');
  const home = temporaryHome(t, JSON.stringify(plain));
  const { store } = await openStore(t, home, plain);
  store.watch();
  await writeFile(join(home, 'config.json'), JSON.stringify({ $schema: schemaReference, ...plain }));
  await until(async () => (await readdir(home)).includes('config.schema.json'));
  t.pass();
});
