import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import test from 'ava';

/**
 * What each part of the house may import: the first row whose folder holds the file decides. Packages by name, folders of the
 * house with a trailing slash, packages of one scope with a trailing `*`, `.` for the file's own folder. `node:` modules only where they are named.
 */
const rules: readonly (readonly [folder: string, allowed: readonly string[]])[] = [
  ['engine/model/', ['.', 'typebox', 'typebox/compile']],
  ['engine/http/', ['engine/', 'rxjs', 'node:', 'uWebSockets.js-glibc227', 'fzstd']],
  ['engine/upstream/', ['engine/', 'rxjs', 'node:', 'undici', 'fzstd']],
  ['engine/config/', ['engine/', 'rxjs', 'typebox', 'node:', 'jsonc-parser', 'chokidar']],
  ['engine/metrics/', ['engine/', 'node:', 'prom-client']],
  ['engine/tokens/', ['engine/', 'node:', 'tiktoken', 'lru-cache']],
  ['engine/signatures/', ['engine/', 'node:', 'lru-cache']],
  ['engine/retry/', ['engine/', 'rxjs', 'node:', 'lru-cache']],
  ['engine/log/', ['engine/', 'node:', 'pino', 'pino-roll', 'sonic-boom']],
  ['engine/requests/', ['engine/', 'rxjs', 'typebox', 'node:']],
  ['engine/demo/', ['engine/', 'typebox', 'node:']],
  ['engine/custom/', ['engine/', 'rxjs', 'typebox', 'node:']],
  ['engine/transformer-api.ts', ['engine/', 'rxjs', 'typebox']],
  ['engine/workers/', ['engine/', 'typebox', 'node:']],
  ['engine/cli/', ['engine/', 'protocols/index.ts', 'transformers/index.ts', 'rxjs', 'commander', 'node:']],
  ['engine/served-paths.ts', ['engine/', 'protocols/', 'admin/']],
  ['engine/start.ts', ['engine/', 'protocols/', 'transformers/', 'admin/', 'node:']],
  ['engine/', ['engine/', 'rxjs', 'node:']],
  ['protocols/index.ts', ['engine/model/', 'protocols/']],
  ['protocols/', ['.', 'engine/model/', 'typebox']],
  ['transformers/formats/', ['.', 'engine/model/', 'typebox', 'protocols/']],
  ['transformers/index.ts', ['engine/model/', 'transformers/']],
  ['transformers/tooluse', ['transformers/tooluse/', 'engine/model/', 'typebox']],
  ['transformers/reasoning', ['transformers/reasoning/', 'engine/model/', 'typebox']],
  [
    'transformers/enhancetool',
    ['transformers/enhancetool/', 'engine/model/', 'typebox', 'typebox/schema', 'jsonrepair'],
  ],
  ['transformers/', ['engine/model/', 'typebox']],
  ['admin/', ['admin/', 'engine/', 'rxjs', 'typebox', 'node:']],
  ['ui/src/parts/json-editor/', ['ui/src/', 'react', '@codemirror/*', '@lezer/common', '@lezer/highlight']],
  ['ui/src/parts/chart/', ['ui/src/', 'react', 'uplot']],
  ['ui/src/pages/yard/', ['ui/src/', 'react', '@xyflow/react']],

  ['ui/src/main.tsx', ['ui/src/', 'react', 'react-dom/client']],
  // It knows the service by its endpoints alone.
  ['ui/src/', ['ui/src/', 'react']],
];

const root = resolve(import.meta.dirname, '..');

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

test('transformers/formats takes a protocol by its public face alone', (t) => {
  const broken = sources
    .filter((file) => file.startsWith('transformers/formats/'))
    .flatMap((file) => importsOf(file).map((specifier) => [file, target(file, specifier)] as const))
    .filter(([, name]) => name.startsWith('protocols/') && !name.endsWith('/index.ts'));
  t.deepEqual(broken, []);
});

test('no vendor is named outside its row', (t) => {
  const vendors = /\b(anthropic|openai|deepseek|gemini|openrouter|groq|claude|gpt)\b/i;
  const broken = sources
    // The command's neighbours are the client programs and the gateway that users come from, each in a row of its own.
    .filter(
      (file) =>
        !/^(?:transformers\/formats|protocols|engine\/cli\/neighbours|ui\/src\/pages\/connect\/clients)\//.test(file),
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
