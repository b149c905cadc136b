import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import test from 'ava';

const root = resolve(import.meta.dirname, '..');

const filesOf = (...folders: readonly string[]): readonly string[] =>
  folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => /(?<!\.d)\.(?:tsx?|js)$/.test(file))
      .map((file) => join(folder, file)),
  );

/** What a file declares with `export`, by name; a value and a type of one name are one export. */
const exportsOf = (file: string): ReadonlySet<string> =>
  new Set(
    [
      ...readFileSync(join(root, file), 'utf8').matchAll(
        /^export (?:declare |abstract |async )*(?:const|let|function\*?|class|interface|type|enum) (\w+)/gm,
      ),
    ].map((match) => match[1] ?? ''),
  );

test('a name that the engine or admin exports is declared once', (t) => {
  const places = new Map<string, string[]>();
  for (const file of filesOf('engine', 'admin')) {
    for (const name of exportsOf(file)) places.set(name, [...(places.get(name) ?? []), file]);
  }
  t.true(places.size > 500, 'the exports were found');
  t.deepEqual(
    [...places].filter(([, files]) => files.length > 1),
    [],
  );
});

/** Names that each module takes from others, as `file name`; `*` for a module taken as a whole. */
const importsIn = (files: readonly string[]): ReadonlySet<string> =>
  new Set(
    files.flatMap((file) => {
      const text = readFileSync(join(root, file), 'utf8');
      const from = (specifier = '', names: readonly string[]): readonly string[] =>
        specifier.startsWith('.')
          ? names.map((name) => `${relative(root, resolve(root, dirname(file), specifier))} ${name}`)
          : [];
      return [
        ...[...text.matchAll(/^(?:import|export) (?:type )?(?:\w+, )?\{([^}]*)\} from '([^']+)'/gm)].flatMap((match) =>
          from(match[2], namesIn(match[1])),
        ),
        ...[...text.matchAll(/\* as \w+ from '([^']+)'/g)].flatMap((match) => from(match[1], ['*'])),
        ...[...text.matchAll(/\bimport\('([^']+)'\)(?:\.then\(\(\{([^}]*)\}\))?/g)].flatMap((match) =>
          from(match[1], match[2] === undefined ? ['*'] : namesIn(match[2])),
        ),
      ];
    }),
  );

/** `type A, B as C` → A, B. */
const namesIn = (list = ''): readonly string[] =>
  list.split(',').flatMap((entry) => /^\s*(?:type )?(\w+)/.exec(entry)?.[1] ?? []);

/** Exports that no import shows: the public face of custom transformers, and hooks that Node.js calls. */
const calledFromOutside = new Set(['engine/transformer-api.ts', 'engine/config/custom/resolve-hook.ts']);

/** Exports that tests alone import: each is a part whose own behaviour is worth a test. */
const forTests: readonly string[] = [
  'admin/logs.ts sendLog',
  'admin/openapi/openapi.ts openApiDocument',
  'engine/cli/import/import.ts mergeImported',
  'engine/cli/ui.ts opener',
  'engine/config/env.ts interpolate',
  'engine/config/store.ts ConfigStoreOptions',
  'engine/http/listener.ts ListenOptions',
  'engine/http/settings.ts RequestOutcome',
  'engine/http/uws.ts uwsCandidates',
  'engine/http/uws.ts uwsMissing',
  'engine/http/uws.ts uwsReleases',
  'engine/http/verify-native.ts nativeHashes',
  'engine/http/zstd.ts zstdFrames',
  'engine/log/log-policy.ts isOfDay',
  'engine/log/log-policy.ts serverLogName',
  'engine/log/log-writer.ts WritableFile',
  'engine/log/open-logs.ts LogOptions',
  'engine/observe/history/replay.ts playRecording',
  'engine/operators/read-events.ts AnswerIds',
  'engine/operators/read-events.ts normalizeEvents',
  'engine/operators/reply-headers.ts lossHeader',
  'engine/operators/retry/decide.ts RetrySituation',
  'engine/operators/rx/operate.ts Handlers',
  'engine/operators/watch-signatures.ts upTo',
  'engine/routing/gateway.ts Services',
  'engine/routing/model-names.ts aliasesOf',
  'engine/service/workers/supervisor.ts backOff',
  'engine/upstream/create-upstreams.ts UpstreamOptions',
  'engine/upstream/decompress.ts Decompressing',
  'engine/upstream/decompress.ts decompress',
  'protocols/messages/count-tokens.ts hiddenTokens',
  'protocols/responses/custom-input.ts wrapInput',
];

test('an export is imported by another file; what tests alone import is listed', (t) => {
  const sources = filesOf('engine', 'protocols', 'transformers', 'admin', 'ui/src');
  const imported = importsIn(sources);
  const tested = importsIn(filesOf('test', 'docs'));
  const isIn = (known: ReadonlySet<string>, file: string, name: string): boolean =>
    known.has(`${file} ${name}`) || known.has(`${file} *`);
  const rest = sources
    .filter((file) => !calledFromOutside.has(file))
    .flatMap((file) => [...exportsOf(file)].map((name) => ({ file, name })))
    .filter(({ file, name }) => !isIn(imported, file, name));
  const show = (exports: typeof rest): readonly string[] => exports.map(({ file, name }) => `${file} ${name}`).sort();
  t.deepEqual(show(rest.filter(({ file, name }) => !isIn(tested, file, name))), [], 'imported by no file');
  t.deepEqual(show(rest.filter(({ file, name }) => isIn(tested, file, name))), [...forTests].sort());
});
