import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import test from 'ava';
import { formats, shipped } from '../../transformers/index.ts';

/** Folders and files of the engine. */
function below(...names: readonly string[]): readonly string[] {
  return names.map((name) => `engine/${name}`);
}

/** What features may import of the engine. */
function belowFeatures(): readonly string[] {
  return below(
    'config/',
    'exchange.ts',
    'feature.ts',
    'http/',
    'hub/',
    'model/',
    'observe/',
    'paths.ts',
    'pipeline.ts',
    'request-record.ts',
    'routing/',
    'runtime/',
    'store/',
    'upstream/',
  );
}

/** What features may import of the service's API: how endpoints are written, and what their answers look like. */
const adminParts = ['endpoint', 'lazy-routes', 'logs', 'schema', 'config/config'].map((name) => `admin/${name}.ts`);
const featurePackages = ['rxjs', 'node:', 'lru-cache', 'typebox'];

/**
 * What each part of the house may import: the first row whose folder holds the file decides. Packages by name, folders of the
 * house with a trailing slash, packages of one scope with a trailing `*`, `.` for the file's own folder. `node:` modules only where they are named.
 */
const rules: readonly (readonly [folder: string, allowed: readonly string[]])[] = [
  // What the web interface takes types from: nothing else may come along.
  [
    'admin/schema.ts',
    ['engine/model/wire/client-wires.ts', 'engine/model/json/json.ts', 'engine/model/schema-parts.ts', 'typebox'],
  ],
  ['engine/config/schema.ts', ['engine/config/rule-schema.ts', 'typebox']],
  ['engine/config/rule-schema.ts', ['engine/model/wire/client-wires.ts', 'typebox']],
  ['engine/features/record/schema.ts', ['engine/model/schema-parts.ts', 'engine/model/json/json.ts', 'typebox']],
  ['engine/model/schema-parts.ts', ['engine/model/wire/client-wires.ts', 'typebox']],
  ['engine/features/usage/schema.ts', ['engine/features/record/schema.ts', 'typebox']],
  // The engine's layers, from the lowest to the highest: each names the ones below that it uses.
  ['engine/model/', ['engine/model/', 'node:', 'typebox', 'typebox/compile', 'typebox/system', 'typebox/value']],
  ['engine/runtime/backpressure.ts', []],
  ['engine/runtime/memoize.ts', []],
  ['engine/runtime/memory-budget.ts', []],
  ['engine/paths.ts', ['node:']],
  ['engine/runtime/', ['engine/runtime/', 'node:']],
  [
    'engine/observe/log/',
    ['engine/observe/log/', 'engine/runtime/memoize.ts', 'engine/model/', 'node:', 'pino', 'pino-roll', 'sonic-boom'],
  ],
  ['engine/http/documented-route.ts', ['engine/http/', 'typebox']],
  [
    'engine/http/',
    [
      'engine/http/',
      'engine/model/',
      'engine/runtime/backpressure.ts',
      'engine/runtime/memoize.ts',
      'engine/runtime/memory-budget.ts',
      'engine/paths.ts',
      'rxjs',
      'node:',
      'uWebSockets.js-glibc227',
      'ws',
      'fzstd',
    ],
  ],
  [
    'engine/routing/catalogue/',
    ['engine/routing/catalogue/', ...below('config/', 'model/'), '@pydantic/genai-prices', 'typebox', 'node:'],
  ],
  // The store's thread loads it: nothing heavy may come along.
  [
    'engine/store/',
    [
      'engine/store/',
      ...below(
        'model/fault.ts',
        'model/json/json.ts',
        'model/status.ts',
        'observe/log/logs.ts',
        'paths.ts',
        'runtime/memoize.ts',
      ),
      'node:',
    ],
  ],
  ['engine/observe/metric.ts', []],
  ['engine/observe/listener.ts', ['engine/http/endpoint.ts', 'engine/model/']],
  ['engine/observe/loss-counter.ts', ['engine/model/']],
  ['engine/observe/families.ts', ['engine/model/schema.ts', 'typebox']],
  ['engine/observe/loop-stalls.ts', below('observe/log/', 'runtime/')],
  [
    'engine/hub/fleet.ts',
    ['engine/hub/', ...below('paths.ts', 'config/', 'observe/log/', 'model/', 'runtime/'), 'typebox', 'node:'],
  ],
  ['engine/hub/redis-link.ts', ['engine/runtime/within.ts', '@redis/client', 'node:net']],
  ['engine/hub/', ['engine/hub/', 'engine/model/', 'engine/runtime/within.ts', 'node:', 'lru-cache', 'typebox']],

  ['engine/routing/reasoning/', ['engine/routing/reasoning/', 'engine/model/', 'node:', 'lru-cache', 'typebox']],
  [
    'engine/config/',
    [
      'engine/config/',
      ...below('paths.ts', 'observe/log/', 'model/', 'runtime/'),
      'rxjs',
      'typebox',
      'typebox/value',
      'node:',
      'jsonc-parser',
    ],
  ],
  [
    'engine/upstream/',
    [
      'engine/upstream/',
      ...below('runtime/backpressure.ts', 'config/', 'model/', 'runtime/'),
      'rxjs',
      'node:',
      'undici',
      'ws',
      'fzstd',
      'lru-cache',
      'typebox',
    ],
  ],
  [
    'engine/routing/',
    [
      'engine/routing/',
      ...below(
        'observe/loss-counter.ts',
        'paths.ts',
        'runtime/memoize.ts',
        'routing/catalogue/',
        'config/',
        'observe/log/',
        'model/',
        'routing/reasoning/',
        'upstream/',
      ),
      'rxjs',
      'node:',
      'lru-cache',
      'tiktoken',
    ],
  ],
  [
    'engine/exchange.ts',
    [
      ...below(
        'runtime/backpressure.ts',
        'runtime/memory-budget.ts',
        'observe/listener.ts',
        'config/',
        'model/',
        'routing/',
      ),
      'rxjs',
    ],
  ],
  [
    'engine/operators/',
    [
      'engine/operators/',
      ...below(
        'exchange.ts',
        'runtime/memory-budget.ts',
        'observe/listener.ts',
        'config/',
        'http/',
        'observe/log/',
        'model/',
        'routing/reasoning/',
        'routing/',
        'runtime/',
        'upstream/',
      ),
      'rxjs',
      'node:',
    ],
  ],
  [
    'engine/pipeline.ts',
    [...below('exchange.ts', 'http/', 'model/event.ts', 'operators/', 'routing/', 'runtime/memoize.ts'), 'rxjs'],
  ],
  // Around serving requests: features, which the data plane knows by their port alone.
  [
    'engine/request-record.ts',
    [
      ...below('exchange.ts', 'observe/listener.ts', 'routing/catalogue/', 'config/', 'http/', 'model/', 'routing/'),
      'node:',
    ],
  ],
  [
    'engine/feature.ts',
    below('exchange.ts', 'observe/', 'request-record.ts', 'config/', 'http/', 'hub/', 'model/', 'routing/', 'store/'),
  ],
  ['engine/client-tools/access.ts', below('client-tools/', 'config/', 'model/', 'routing/')],
  ['engine/client-tools/', below('client-tools/', 'model/')],
  // Features know their own folder, the port, and what is below it; of the service's API, how an endpoint is written.
  ['engine/features/record/', ['engine/features/record/', ...belowFeatures(), 'typebox', 'lru-cache', 'node:']],
  ...[...readdirSync(join(resolve(import.meta.dirname, '../..'), 'engine/features'))].map(
    (name) =>
      [
        `engine/features/${name}/`,
        [`engine/features/${name}/`, 'engine/features/record/', ...belowFeatures(), ...adminParts, ...featurePackages],
      ] as const,
  ),
  [
    'engine/endpoints/',
    [
      'engine/endpoints/',
      ...below(
        'request-record.ts',
        'runtime/ask-directly.ts',
        'runtime/backpressure.ts',
        'exchange.ts',
        'observe/listener.ts',
        'pipeline.ts',
        'config/',
        'http/',
        'observe/log/',
        'model/',
      ),
      ...below(
        'routing/catalogue/',
        'feature.ts',
        'observe/loss-counter.ts',
        'operators/',
        'routing/reasoning/',
        'routing/',
        'runtime/memoize.ts',
        'upstream/',
      ),
      'rxjs',
      'node:',
      'typebox',
    ],
  ],
  [
    'engine/doctor/',
    [
      'engine/doctor/',
      ...below(
        'exchange.ts',
        'pipeline.ts',
        'trial/',
        'observe/listener.ts',
        'runtime/',
        'routing/catalogue/',
        'config/',
        'observe/log/',
        'model/',
        'operators/',
        'routing/reasoning/',
        'routing/',
        'upstream/',
      ),
      'protocols/index.ts',
      'transformers/index.ts',
      'rxjs',
      'node:',
    ],
  ],
  [
    'engine/trial/',
    [
      'engine/trial/',
      ...below(
        'exchange.ts',
        'paths.ts',
        'pipeline.ts',
        'observe/loss-counter.ts',
        'observe/listener.ts',
        'runtime/',
        'routing/catalogue/',
        'config/',
        'endpoints/',
        'observe/log/',
        'model/',
        'features/history/',
        'operators/',
        'routing/reasoning/',
        'routing/',
        'upstream/',
      ),
      'protocols/index.ts',
      'transformers/index.ts',
      'rxjs',
      'node:',
    ],
  ],
  ['engine/testing-api.ts', below('trial/')],
  ['engine/transformer-api.ts', [...below('config/custom/', 'model/'), 'rxjs', 'typebox']],
  [
    'admin/',
    [
      'engine/store/',
      'admin/',
      ...below(
        'request-record.ts',
        'runtime/backpressure.ts',
        'runtime/load-once.ts',
        'runtime/memoize.ts',
        'routing/catalogue/',
        'client-tools/',
        'config/',
        'endpoints/',
        'http/',
        'observe/log/',
        'model/',
        'features/',
        'routing/',
        'upstream/',
      ),
      'rxjs',
      'typebox',
      'node:',
    ],
  ],
  [
    'engine/service/demo/',
    ['engine/service/demo/', ...below('model/', 'upstream/'), 'protocols/', 'rxjs', 'typebox/value', 'node:'],
  ],
  [
    'engine/service/workers/',
    [
      'engine/service/',
      ...below(
        'config/',
        'http/',
        'hub/',
        'observe/log/',
        'model/',
        'feature.ts',
        'features/usage/schema.ts',
        'observe/families.ts',
        'paths.ts',
        'runtime/',
      ),
      'typebox',
      'node:',
    ],
  ],
  [
    'engine/service/',
    [
      'engine/store/',
      'engine/service/',
      ...below(
        'request-record.ts',
        'feature.ts',
        'observe/',
        'paths.ts',
        'routing/catalogue/',
        'config/',
        'endpoints/',
        'http/',
        'hub/',
        'model/',
        'features/',
      ),
      ...below('routing/reasoning/', 'routing/', 'runtime/', 'upstream/'),
      'admin/',
      'protocols/',
      'transformers/',
      'node:',
    ],
  ],
  ['engine/service/main.ts', [...below('config/', 'http/', 'hub/', 'service/'), 'node:']],
  // Its text has imports.
  ['engine/cli/commands/stage-starter.ts', ['engine/cli/commands/', 'node:', 'junctor/testing']],
  [
    'engine/cli/',
    [
      'engine/cli/',
      ...below(
        'client-tools/',
        'observe/loss-counter.ts',
        'main.ts',
        'paths.ts',
        'routing/catalogue/',
        'config/',
        'endpoints/',
        'http/bind.ts',
        'http/endpoint.ts',
        'hub/blob-journal.ts',
        'launch/stale-build.js',
        'observe/log/',
        'model/',
        'features/',
        'routing/reasoning/',
        'routing/',
      ),
      ...below('service/', 'store/store-thread.ts', 'runtime/', 'doctor/', 'trial/', 'upstream/'),
      // The shapes of the service's answers.
      'admin/schema.ts',
      'engine/bench/bench.ts',
      'engine/bench/options.ts',
      'engine/bench/targets/configured.ts',
      'engine/bench/targets/staged.ts',
      'protocols/index.ts',
      'transformers/index.ts',
      'rxjs',
      'commander',
      'node:',
    ],
  ],
  // It starts the gateway as a program; what it takes from it are its own server library, files and formats.
  ['engine/bench/targets/run-ablated.ts', below('service/')],
  // It is the service between sockets that it simulates.
  [
    'engine/bench/own/',
    [
      'engine/bench/',
      ...below('http/choose-server.ts', 'http/uws/', 'service/', 'upstream/connection.ts'),
      'undici',
      'node:',
    ],
  ],
  [
    'engine/bench/',
    [
      'engine/bench/',
      ...below(
        'paths.ts',
        'config/config.ts',
        'config/sections/destination.ts',
        'features/history/',
        'http/choose-server.ts',
        'http/uws/uws.ts',
        'model/',
        'routing/plan/plan.ts',
        'service/features.ts',
      ),
      'protocols/index.ts',
      'transformers/index.ts',
      'undici',
      'ws',
      'node:',
    ],
  ],
  ['protocols/index.ts', ['engine/model/', 'protocols/', 'typebox']],
  ['protocols/responses/socket/', ['.', 'engine/model/', 'node:crypto']],
  ['protocols/', ['.', 'engine/model/', 'typebox']],
  ['transformers/formats/', ['.', 'engine/model/', 'typebox', 'protocols/']],
  ['transformers/index.ts', ['engine/model/', 'transformers/']],
  ['transformers/tooluse', ['transformers/tooluse/', 'engine/model/', 'typebox']],
  ['transformers/reasoning', ['transformers/reasoning/', 'engine/model/', 'typebox']],
  [
    'transformers/enhancetool',
    ['transformers/enhancetool/', 'engine/model/', 'typebox', 'typebox/schema', 'jsonrepair'],
  ],
  // Stages that ship with the package know of it what users' own do.
  ...shipped.map((name) => [`transformers/${name}/`, ['.', 'junctor/transformer', 'node:crypto']] as const),
  ['transformers/', ['engine/model/', 'typebox']],
  ['ui/src/parts/json-editor/', ['ui/src/', 'react', '@codemirror/*', '@lezer/common', '@lezer/highlight']],
  ['ui/src/parts/markdown/', ['ui/src/', 'react', 'marked']],
  ['ui/src/parts/table/data-table.tsx', ['ui/src/', 'react', '@tanstack/react-virtual']],
  ['ui/src/parts/chart/', ['ui/src/', 'react']],

  ['ui/src/main.tsx', ['ui/src/', 'react', 'react-dom/client']],
  // It knows the service by its endpoints, and their answers by the service's schemas: types alone.
  [
    'ui/src/api/',
    [
      'ui/src/',
      'react',
      'admin/schema.ts',
      ...below('config/schema.ts', 'model/json/json.ts', 'model/schema-parts.ts'),
      ...below('features/record/schema.ts', 'features/usage/schema.ts'),
    ],
  ],
  ['ui/src/', ['ui/src/', 'react']],
];

const root = resolve(import.meta.dirname, '../..');

const sources = ['engine', 'protocols', 'transformers', 'admin', 'ui/src'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => join(folder, file)),
);

const importsOf = (file: string): string[] =>
  [
    ...readFileSync(join(root, file), 'utf8').matchAll(
      /^(?:import|export)\s[^;]*?from '([^']+)'|\bimport\('([^']+)'\)/gms,
    ),
  ].map((match) => match[1] ?? match[2] ?? '');

/** What a rule speaks of: a folder of the house, or a package. */
const target = (file: string, specifier: string): string =>
  specifier.startsWith('.') ? relative(root, resolve(root, dirname(file), specifier)) : specifier;

const isAllowed = (file: string, name: string, allowed: readonly string[]): boolean =>
  allowed.some((entry) => {
    if (entry === '.') return name.startsWith(`${protocolFolder(file)}/`);
    if (entry.endsWith('*')) return name.startsWith(entry.slice(0, -1));
    return entry.endsWith('/') || entry.endsWith(':') ? name.startsWith(entry) : name === entry;
  });

/** A protocol's folder is one unit, whatever lies below it. */
const protocolFolder = (file: string): string =>
  file.startsWith('protocols/') ? file.split('/').slice(0, 2).join('/') : dirname(file);

test('each part imports only what the table of the house allows', (t) => {
  const broken = sources.flatMap((file) => {
    const rule = rules.find(([folder]) => file.startsWith(folder));
    return importsOf(file)
      .map((specifier) => target(file, specifier))
      .filter((name) => !isAllowed(file, name, rule?.[1] ?? []))
      .map((name) => `${file} → ${name}`);
  });
  t.deepEqual(broken, []);
  t.true(sources.length > 50, 'the sources were found');
});

test('engine/service names no feature but in its list', (t) => {
  // What is kept of requests is written by the supervisor.
  const persists = ['engine/service/persistence.ts'];
  const naming = sources
    .filter((file) => file.startsWith('engine/service/'))
    .filter((file) => importsOf(file).some((name) => target(file, name).startsWith('engine/features/')));
  t.deepEqual(naming.sort(), ['engine/service/features.ts', ...persists]);
  const list = importsOf('engine/service/features.ts').map((name) => target('engine/service/features.ts', name));
  const features = list.filter((name) => name.startsWith('engine/features/'));
  t.true(features.length > 5);
  for (const name of features) t.regex(name, /^engine\/features\/[\w-]+\/index\.ts$/);
});

test('transformers/formats takes a protocol by its public face alone', (t) => {
  const broken = sources
    .filter((file) => file.startsWith('transformers/formats/'))
    .flatMap((file) => importsOf(file).map((specifier) => [file, target(file, specifier)] as const))
    .filter(([, name]) => name.startsWith('protocols/') && !name.endsWith('/index.ts'));
  t.deepEqual(broken, []);
});

test('the web interface takes types alone from the service', (t) => {
  const statements = /^(?:import|export)\s(type\s)?[^;]*?from '([^']+)'|\bimport\('([^']+)'\)/gms;
  const taken = sources
    .filter((file) => file.startsWith('ui/src/'))
    .flatMap((file) =>
      [...readFileSync(join(root, file), 'utf8').matchAll(statements)].map(([, type, name, lazy]) => ({
        file,
        type,
        name: target(file, name ?? lazy ?? ''),
      })),
    )
    .filter(({ name }) => /^(?:admin|engine|protocols|transformers)\//.test(name));
  t.deepEqual(
    taken.filter(({ type }) => type === undefined),
    [],
  );
  t.true(taken.length > 5, 'the imports were found');
});

test('no vendor is named outside its row', (t) => {
  const vendors = new RegExp(`\\b(?:${[...formats.keys()].join('|')}|claude|gpt)\\b`, 'i');
  const broken = sources
    // The bench simulates vendors, and the command's neighbours are the client programs and the gateway that users come from, each in a row of its own.
    .filter(
      (file) =>
        !/^(?:transformers\/formats\/|protocols\/|engine\/bench\/|engine\/client-tools\/|engine\/cli\/commands\/clients\/|engine\/cli\/commands\/import\/field-tables\.ts)/.test(
          file,
        ),
    )
    // The table of the rows, and the list of wire formats, one of which has its vendor's name.
    .filter((file) => file !== 'transformers/index.ts' && file !== 'engine/model/request.ts')
    .flatMap((file) =>
      readFileSync(join(root, file), 'utf8')
        .split('\n')
        .map((line, index) => ({ place: `${file}:${index + 1}`, code: line.replace(/\/\/.*|^\s*\/?\*.*/, '') }))
        .filter(({ code }) => vendors.test(code))
        .map(({ place }) => place),
    );
  t.deepEqual(broken, []);
});

/** Names of wire formats, and their words. */
const wireWords =
  /['"`](?:messages|chat|responses|gemini|decisions)['"`]|\/v1\/(?:messages|chat|responses)|\bresponse\.(?:create|completed|failed|incomplete|in_progress|output_)|\bprevious_response|\bmessage_(?:start|delta|stop)|\bcontent_block|\bchat\.completion|\[DONE\]|\btool_calls\b|\bfunction_call|\bgenerateContent/;

/** What serves requests knows wire formats by their protocols. The words stand in `protocols/` and `engine/model/`, and here. */
const wireWordsIn: Readonly<Record<string, string>> = {
  'engine/observe/log/stand-ins.ts': 'members of every format whose texts are no content of a user: captures keep them',
};

test('wire formats are named by protocols and the model, not by what serves requests', (t) => {
  const places = sources
    .filter((file) =>
      /^engine\/(?:(?:endpoints|http|hub|observe|operators|routing|runtime|upstream)\/|[^/]+$)/.test(file),
    )
    .flatMap((file) =>
      readFileSync(join(root, file), 'utf8')
        .split('\n')
        .map((line, index) => ({ file, place: `${file}:${index + 1}`, code: line.replace(/\/\/ .*|^\s*\/?\*.*/, '') }))
        .filter(({ code }) => wireWords.test(code)),
    );
  t.deepEqual(
    places.filter(({ file }) => wireWordsIn[file] === undefined).map(({ place }) => place),
    [],
  );
  t.deepEqual(
    [...new Set(places.map(({ file }) => file))].sort(),
    Object.keys(wireWordsIn).sort(),
    'each exception is needed',
  );
});

/** The strongly connected parts of a graph with more than one member (Tarjan). */
const circlesOf = (graph: ReadonlyMap<string, ReadonlySet<string>>): readonly (readonly string[])[] => {
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const circles: string[][] = [];
  const visit = (node: string): void => {
    index.set(node, index.size);
    low.set(node, index.get(node) ?? 0);
    stack.push(node);
    for (const next of graph.get(node) ?? []) {
      if (!index.has(next)) visit(next);
      if (stack.includes(next)) low.set(node, Math.min(low.get(node) ?? 0, low.get(next) ?? 0));
    }
    if (low.get(node) !== index.get(node)) return;
    const circle = stack.splice(stack.indexOf(node));
    if (circle.length > 1) circles.push(circle);
  };
  for (const node of graph.keys()) if (!index.has(node)) visit(node);
  return circles;
};

/** Which units import which, type imports included; `unitOf` names the unit that a file belongs to. */
const importGraph = (unitOf: (file: string) => string): ReadonlyMap<string, ReadonlySet<string>> => {
  const known = new Set(sources);
  const graph = new Map<string, Set<string>>();
  for (const file of sources) {
    const unit = unitOf(file);
    const targets = graph.get(unit) ?? new Set();
    graph.set(unit, targets);
    for (const specifier of importsOf(file)) {
      const imported = target(file, specifier);
      if (known.has(imported) && unitOf(imported) !== unit) targets.add(unitOf(imported));
    }
  }
  return graph;
};

/** The files that are loaded with these, without those that are imported on demand. */
const loadedWith = (entries: readonly string[]): ReadonlySet<string> => {
  const loaded = new Set<string>();
  const next = [...entries];
  for (let file = next.pop(); file !== undefined; file = next.pop()) {
    if (loaded.has(file)) continue;
    loaded.add(file);
    const text = readFileSync(join(root, file), 'utf8');
    const statements = text.matchAll(/^(?:import|export)\s(?!type\s)([^;]*?)from '(\.[^']+)'|^import '(\.[^']+)'/gms);
    for (const [, names, from, bare] of statements) {
      const members = /^\{(.*)\}\s*$/s
        .exec(names ?? '')?.[1]
        ?.split(',')
        .filter((member) => member.trim() !== '');
      const isOfTypes = members?.every((member) => member.trim().startsWith('type ')) ?? false;
      if (!isOfTypes) next.push(target(file, from ?? bare ?? ''));
    }
  }
  return loaded;
};

test('what is not configured, or is asked for rarely, is not loaded at the start', (t) => {
  const loaded = [...loadedWith(['engine/service/main.ts', 'engine/service/server.ts'])];
  const onDemand = [
    'admin/config/c',
    'admin/openapi/',
    'admin/schema.ts',
    'admin/ui',
    'engine/config/edit/',
    'engine/endpoints/explain.ts',
    'engine/endpoints/local-servers.ts',
    'engine/features/clients/c',
    'engine/features/clients/l',
    'engine/features/clients/o',
    'engine/features/clients/routes.ts',
    'engine/features/history/stored-requests.ts',
    'engine/store/queries.ts',
    'engine/features/history/replay.ts',
    'engine/features/telemetry/telemetry.ts',
    'engine/features/usage/report.ts',
    'engine/http/node/',
    'engine/hub/redis',
    'engine/service/demo/',
    'engine/features/fleet/f',
    'engine/features/fleet/nodes.ts',
    'engine/hub/fleet.ts',
    'engine/service/workers/fork-worker.ts',
    'engine/service/workers/ipc-peers.ts',
  ];
  t.true(loaded.includes('engine/pipeline.ts'));
  for (const place of onDemand) {
    t.true(
      sources.some((file) => file.startsWith(place)),
      place,
    );
    t.deepEqual(
      loaded.filter((file) => file.startsWith(place)),
      [],
    );
  }
});

test('no files import each other in a circle, types included', (t) => {
  t.deepEqual(circlesOf(importGraph((file) => file)), []);
});

test('no folders import each other in a circle', (t) => {
  const folder = (file: string): string => file.split('/').slice(0, 2).join('/');
  t.deepEqual(circlesOf(importGraph(folder)), []);
});

const isSource = new Set(sources);

/** The files and folders in a folder, and which of them import which. */
const siblings = (folder: string): ReadonlyMap<string, ReadonlySet<string>> => {
  const named = (file: string): string | undefined =>
    file.startsWith(folder) ? file.slice(folder.length).split('/')[0] : undefined;
  const graph = new Map<string, Set<string>>();
  for (const file of sources) {
    const unit = named(file);
    if (unit === undefined) continue;
    const targets = graph.get(unit) ?? new Set();
    graph.set(unit, targets);
    for (const specifier of importsOf(file)) {
      const imported = target(file, specifier);
      const other = isSource.has(imported) ? named(imported) : undefined;
      if (other !== undefined && other !== unit) targets.add(other);
    }
  }
  return graph;
};

/**
 * Folders in which some files and folders import each other in a circle: drawers, not rooms. The list may only become shorter. `engine/`
 * holds its own roof: `cli/` and `service/` put the rest of the house together. The types of `model/` name each other.
 */
const drawers = ['', 'engine/model/', 'ui/src/pages/'];

test('files and folders beside each other import each other in no circle, at every level', (t) => {
  const folders = new Set(
    sources.flatMap((file) => file.split('/').map((_, at, parts) => parts.slice(0, at).join('/'))),
  );
  const broken = [...folders]
    .map((folder) => (folder === '' ? '' : `${folder}/`))
    .filter((folder) => circlesOf(siblings(folder)).length > 0);
  t.deepEqual(broken.sort(), drawers);
});

test('a circle is found', (t) => {
  const graph = new Map([
    ['a', new Set(['b'])],
    ['b', new Set(['c'])],
    ['c', new Set(['a', 'd'])],
    ['d', new Set<string>()],
  ]);
  t.deepEqual(circlesOf(graph), [['a', 'b', 'c']]);
});
