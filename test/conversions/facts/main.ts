import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { offlineGateway } from '../../../engine/cli/offline-gateway.ts';
import { firstRunConfig } from '../../../engine/config/files/first-run.ts';
import { validateConfig } from '../../../engine/config/validate.ts';
import { refreshModels } from '../../../engine/endpoints/refresh-models.ts';
import { openPriceTable } from '../../../engine/routing/catalogue/price-table.ts';
import { knownVendors } from '../../../engine/service/load-config.ts';
import { createUpstreams } from '../../../engine/upstream/create-upstreams.ts';
import { clientProtocols } from '../../../protocols/index.ts';
import { formats } from '../../../transformers/index.ts';
import { dayMs, differences, namedIn, retiring, retiringTemplates, unknownModels, writeFacts } from './report.ts';

/*
 * `npm run facts [-- --write]`: compares the shipped facts of models with what can be reached: the vendors' own lists, with the
 * keys in the environment, and the price package that is installed. Without keys it needs no network. Says what differs, what
 * retires within 60 days, and which first starts, pages and tests name that. `--write` takes over what the lists say; prices are
 * changed by hand.
 */

const root = resolve(import.meta.dirname, '../../..');
const nowMs = Date.now();
const today = new Date(nowMs).toISOString().slice(0, 10);
const write = process.argv.includes('--write');
const mostNames = 30;
const limitMs = 30_000;

const say = (line: string): void => console.log(line);

/** The lists of the vendors whose keys are in the environment. */
const listVendors = async () => {
  const { source, demo } = firstRunConfig(knownVendors(formats), process.env);
  const checked = validateConfig(source, process.env);
  const [client] = clientProtocols.map(({ protocol }) => protocol);
  if (demo || 'faults' in checked || !client) return { listOf: () => undefined, problems: new Map<string, string>() };
  const home = await mkdtemp(join(tmpdir(), 'junctor-facts-'));
  const upstreams = createUpstreams({ ...checked.config.timeouts, ...checked.config.limits, environment: process.env });
  try {
    const { gateway } = await offlineGateway(checked.config, home, {});
    const parts = { gateway: { ...gateway, upstreams }, client, localServerKinds: [], limitMs };
    const asked = await refreshModels(parts);
    const { config, catalogue } = gateway;
    const lists = new Map(config.providers.map((provider) => [provider.name, catalogue.listOf(provider)]));
    return {
      listOf: (name: string) => lists.get(name),
      problems: new Map(asked.flatMap(({ provider, problem = '' }) => (problem ? [[provider, problem] as const] : []))),
    };
  } finally {
    await upstreams.close();
    await rm(home, { recursive: true, force: true });
  }
};

const prices = openPriceTable(() => undefined);
await prices.load();
const { listOf, problems } = await listVendors();

for (const format of formats.values()) {
  const { name, facts, firstStart } = format;
  if (!facts || !firstStart) continue;
  const list = listOf(name);
  const days = Math.floor((nowMs - Date.parse(facts.asOf)) / dayMs);
  const asked = list
    ? `its list has ${list.models.length} models`
    : (problems.get(name) ?? `no ${firstStart.variable}`);
  say(`\n${name}: facts of ${facts.asOf}, ${days} days old; ${asked}`);
  const sources = { list, priceOf: (model: string) => prices.find(new URL(firstStart.baseUrl), model, nowMs) };
  const found = differences(format, sources, nowMs);
  for (const { model, fact, ours, theirs, source } of found)
    say(`  ${model}: ${fact} ${ours} → ${theirs} (${source === 'list' ? 'its list' : 'genai-prices: check'})`);
  const unknown = unknownModels(format, sources);
  if (unknown.length > 0) say(`  not known here: ${unknown.slice(0, mostNames).join(', ')}`);
  if (unknown.length > mostNames) say(`  and ${unknown.length - mostNames} more`);
  if (!write || !list) continue;
  const path = join(root, 'transformers/formats/facts', `${name}.ts`);
  await writeFile(path, writeFacts(await readFile(path, 'utf8'), found, today));
  say(`  written to transformers/formats/facts/${name}.ts`);
}

const ends = retiring(formats.values(), nowMs, 60);
say('\nRetire within 60 days:');
for (const { vendor, model, on } of ends) if (Date.parse(on) > nowMs) say(`  ${on} ${vendor} ${model}`);

say('\nRetired, or within 60 days, and named in first starts:');
for (const { vendor, model, on } of retiringTemplates(formats.values(), nowMs, 60)) say(`  ${vendor} ${model} (${on})`);

say('\nand in pages, the interface and tests:');
const names = ends.map(({ model }) => model);
for (const place of ['README.md', 'docs', 'ui/src', 'deploy', 'test']) {
  const files = place.endsWith('.md') ? [''] : await readdir(join(root, place), { recursive: true });
  for (const file of files.filter((one) => one === '' || /\.(?:md|tsx?|json|ya?ml)$/.test(one)).sort()) {
    const path = join(place, file);
    const named = namedIn(await readFile(join(root, path), 'utf8').catch(() => ''), names);
    if (named.length > 0 && !path.startsWith('test/fixtures')) say(`  ${path}: ${named.join(', ')}`);
  }
}
