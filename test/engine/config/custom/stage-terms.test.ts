import test from 'ava';
import type { TransformerEntry } from '../../../../engine/config/config.ts';
import type { LoadedStage } from '../../../../engine/config/custom/load-stages.ts';
import type { OpenStage } from '../../../../engine/config/custom/transformer.ts';
import { validateConfig } from '../../../../engine/config/validate.ts';
import { validateEntries } from '../../../../engine/routing/plan/build-stages.ts';
import { defaultFormat, formats, stages } from '../../../../transformers/index.ts';

const loaded: Readonly<Record<string, OpenStage>> = {
  'function.js': { name: 'function', request: (request) => request },
  'operator.js': { name: 'operator', operators: { request: (source) => source } },
  'around.js': { name: 'around', around: (request, next) => next(request) },
};

const stageOf = ({ path = '' }: TransformerEntry): LoadedStage => {
  const stage = loaded[path];
  return stage ? { file: path, stage } : { file: path, problem: 'gone', findings: [{ path, message: 'gone' }] };
};

/** What is said of a list of entries. */
const findingsOf = (transformers: readonly object[]): readonly string[] => {
  const provider = { name: 'p', baseUrl: 'http://h.example/v1', apiKey: 'k', models: ['m'] };
  const result = validateConfig(JSON.parse(JSON.stringify({ Providers: [provider], transformers })), {});
  const written = 'faults' in result ? result.faults : [];
  const config = 'faults' in result ? result.draft : result.config;
  if (!config) return written.map(({ path, message }) => `fault: ${path} ${message}`);
  const modules = config.transformers.filter(({ path }) => path !== undefined);
  const custom = new Map(modules.map((entry) => [entry.at, stageOf(entry)]));
  const { faults, warnings } = validateEntries(config, { formats, stages, defaultFormat, custom });
  return [
    ...[...written, ...faults].map(({ path, message }) => `fault: ${path} ${message}`),
    ...[...result.warnings, ...warnings].map(({ path, message }) => `warning: ${path} ${message}`),
  ];
};

const noEffect = 'warning: transformers[0].timeoutMs has no effect: only operators and `around` can be ended early';

const rows: readonly (readonly [title: string, entry: object, findings: readonly string[]])[] = [
  ['an operator with a limit', { path: 'operator.js', timeoutMs: 9 }, []],
  ['an around with a limit', { path: 'around.js', timeoutMs: 9 }, []],
  ['a function with a limit', { path: 'function.js', timeoutMs: 9 }, [noEffect]],
  ['a stage of the gateway with a limit', { name: 'tooluse', timeoutMs: 9 }, [noEffect]],
  [
    'a format with a limit',
    { name: 'openai', timeoutMs: 9 },
    ['fault: transformers[0].timeoutMs is for stages, and "openai" is a format'],
  ],
  [
    'a format that may be left out',
    { name: 'openai', onError: 'skip' },
    ['fault: transformers[0].onError is for stages, and "openai" is a format'],
  ],
  [
    'a format with a condition',
    { name: 'openai', when: { images: true } },
    ['fault: transformers[0].when is for stages, and "openai" is a format'],
  ],
  ['a stage of the gateway with a condition', { name: 'tooluse', when: { any: [{ client: 'chat' }] } }, []],
  [
    'a condition with an unknown fact',
    { name: 'tooluse', when: { not: { tool: 'x' } } },
    ['fault: transformers[0].when.not.tool is unknown and has no effect; did you mean tools?'],
  ],
  [
    'a condition that never holds',
    { name: 'tooluse', when: { client: 'chat', not: { client: 'chat' } } },
    ['warning: transformers[0].when never holds: what it requires is what `not` excludes'],
  ],
  [
    'a condition that is too large',
    { name: 'tooluse', when: { any: Array.from({ length: 100 }, () => ({ images: true })) } },
    ['fault: transformers[0].when has more than 100 facts and joins'],
  ],
  ['a limit of nothing', { path: 'operator.js', timeoutMs: 0 }, ['fault: transformers[0].timeoutMs must be >= 1']],
  [
    'an unknown choice',
    { path: 'operator.js', onError: 'continue' },
    ['fault: transformers[0].onError must be one of "fail", "skip"'],
  ],
  ['a stage of the gateway that may be left out', { name: 'tooluse', onError: 'skip' }, []],
];

for (const [title, entry, findings] of rows) test(title, (t) => t.deepEqual(findingsOf([entry]), findings));
