import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

/*
 * Checks the exports, as part of `npm run lint`: each is imported by another file, and in the engine and admin its name is
 * declared once.
 */

const root = resolve(import.meta.dirname, '../..');

const filesOf = (...folders: readonly string[]): readonly string[] =>
  folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => /(?<!\.d)\.(?:tsx?|js)$/.test(file) && !file.includes('node_modules'))
      .map((file) => join(folder, file)),
  );

/** Names that a file declares with `export`; a value and a type of one name are one export. */
const declaredIn = (file: string): ReadonlySet<string> =>
  new Set(
    [
      ...readFileSync(join(root, file), 'utf8').matchAll(
        /^export (?:declare |abstract |async )*(?:const|let|function\*?|class|interface|type|enum) (\w+)/gm,
      ),
    ].map((match) => match[1] ?? ''),
  );

/** Names that a file exports from another. */
const passedOnBy = (file: string): readonly string[] =>
  [...readFileSync(join(root, file), 'utf8').matchAll(/^export (?:type )?\{([^}]*)\} from '/gm)].flatMap((match) =>
    (match[1] ?? '').split(',').flatMap((entry) => /(\w+)\s*$/.exec(entry)?.[1] ?? []),
  );

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
        ...[...text.matchAll(/\bimport\('([^']+)'\)(?:\)\.(\w+))?/g)].flatMap(([, specifier, name = '*']) =>
          from(specifier, [name]),
        ),
      ];
    }),
  );

/** `type A, B as C` → A, B. */
const namesIn = (list = ''): readonly string[] =>
  list.split(',').flatMap((entry) => /^\s*(?:type )?(\w+)/.exec(entry)?.[1] ?? []);

/**
 * Exports that no import shows: the public face of custom transformers, hooks that Node.js calls, what compiled tests and the bench
 * import.
 */
const calledFromOutside = new Set([
  'engine/transformer-api.ts',
  'engine/testing-api.ts',
  'engine/config/custom/resolve-hook.ts',
  'test/bench/targets/fleet.ts',
  'test/bench/targets/unused-features.ts',
  'test/runner/grouped-test.js',
  'test/runner/judge-changes.ts',
  'test/runner/sequential-test.ts',
]);

/** Exports that tests alone import: each is a part whose own behaviour is worth a test. */
const forTests: readonly string[] = [
  'admin/logs.ts sendLog',
  'engine/cli/commands/import/import.ts mergeImported',
  'engine/features/clients/usage.ts nextPeriodMs',
  'engine/cli/commands/ui.ts opener',
  'engine/config/presets/merge-preset.ts mergePreset',
  'engine/config/files/store.ts ConfigStoreOptions',
  'engine/bench/measure/foreign-load.ts busyMs',
  'engine/bench/report/publish.ts withFigures',
  'engine/bench/report/publish.ts withReadmeFigures',
  'engine/http/listener.ts ConnectionLimit',
  'engine/http/listener.ts ListenOptions',
  'engine/http/settings.ts RequestOutcome',
  'engine/http/uws/uws.ts uwsCandidates',
  'engine/http/uws/uws.ts uwsMissing',
  'engine/http/uws/uws.ts uwsReleases',
  'engine/http/zstd.ts zstdFrames',
  'engine/observe/log/log-policy.ts isOfDay',
  'engine/observe/log/log-policy.ts serverLogName',
  'engine/observe/log/log-writer.ts WritableFile',
  'engine/observe/log/open-logs.ts LogOptions',
  'engine/observe/log/record-writer.ts maskFields',
  'engine/features/telemetry/span-queue.ts batchMs',
  'engine/features/telemetry/span-queue.ts maxBatchSpans',
  'engine/features/telemetry/span-queue.ts maxQueuedSpans',
  'engine/operators/signatures.ts SignatureWatch',
  'engine/operators/signatures.ts reconcileSignatures',
  'engine/operators/decode.ts parseBody',
  'engine/operators/decode.ts parseOutline',
  'engine/operators/relay-records.ts WholeRecords',
  'engine/upstream/connection.ts ContinueFilter',
  'engine/operators/read-events.ts AnswerIds',
  'engine/operators/read-events.ts normalizeEvents',
  'engine/operators/write-reply.ts headerText',
  'engine/operators/write-reply.ts lossHeader',
  'engine/operators/retry/decide.ts RetrySituation',
  'engine/operators/relay-reply.ts MarkedReader',
  'engine/store/store-thread.ts openStoreIn',
  'engine/routing/model-names.ts aliasesOf',
  'engine/service/workers/supervisor.ts backOff',
  'engine/upstream/create-upstreams.ts UpstreamOptions',
  'engine/upstream/decompress.ts Decompressing',
  'engine/upstream/decompress.ts decompress',
  'protocols/messages/count-tokens.ts hiddenTokens',
  'protocols/responses/encode-reply/custom-input.ts wrapInput',
];

const sources = filesOf('engine', 'protocols', 'transformers', 'admin', 'ui/src');
const tests = filesOf('test', 'docs');
const imported = importsIn([...sources, 'ui/build.js']);
const tested = importsIn([...tests, 'ava.config.js']);

const isIn = (known: ReadonlySet<string>, file: string, name: string): boolean =>
  known.has(`${file} ${name}`) || known.has(`${file} *`);
const unused = [...sources, ...tests]
  .filter((file) => !calledFromOutside.has(file))
  .flatMap((file) => [...declaredIn(file), ...passedOnBy(file)].map((name) => ({ file, name })))
  .filter(({ file, name }) => !isIn(imported, file, name));
const show = (exports: typeof unused): readonly string[] => exports.map(({ file, name }) => `${file} ${name}`);
const testOnly = show(unused.filter(({ file, name }) => sources.includes(file) && isIn(tested, file, name)));

const declarations = new Map<string, string[]>();
// The bench is a program of its own, with words of its own.
for (const file of filesOf('engine', 'admin').filter((name) => !name.startsWith('engine/bench/'))) {
  for (const name of declaredIn(file)) declarations.set(name, [...(declarations.get(name) ?? []), file]);
}

const problems = [
  ...show(unused.filter(({ file, name }) => !isIn(tested, file, name))).map((name) => `${name}: imported by no file`),
  ...testOnly.filter((name) => !forTests.includes(name)).map((name) => `${name}: imported by tests alone`),
  ...forTests.filter((name) => !testOnly.includes(name)).map((name) => `${name}: not imported by tests alone`),
  ...[...declarations]
    .filter(([, files]) => files.length > 1)
    .map(([name, files]) => `${name}: in ${files.join(', ')}`),
];
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
