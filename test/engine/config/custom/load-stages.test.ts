import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { TransformerEntry } from '../../../../engine/config/config.ts';
import { type LoadedStage, loadStages } from '../../../../engine/config/custom/load-stages.ts';
import { FaultError } from '../../../../engine/model/fault.ts';
import { Losses } from '../../../../engine/model/loss.ts';
import { plainRequest } from '../../../support/context.ts';
import { stageContext } from '../../../support/stage-context.ts';

/** Loads one module out of a folder with these files and nothing else: no package.json, no packages. */
const load = async (
  t: ExecutionContext,
  files: Readonly<Record<string, string>>,
  path: string,
  options: TransformerEntry['options'] = {},
): Promise<{ readonly loaded: LoadedStage; readonly home: string }> => {
  const home = await mkdtemp(join(tmpdir(), 'junctor-'));
  t.teardown(() => rm(home, { recursive: true, force: true }));
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(join(home, file)), { recursive: true });
    await writeFile(join(home, file), text);
  }
  return { home, loaded: await loadAgain(home, path, options) };
};

const loadAgain = async (home: string, path: string, options: TransformerEntry['options'] = {}) => {
  const stages = await loadStages([{ at: 'transformers[0]', name: 'x', path, options }], { home, allowed: [] });
  const loaded = stages.get('transformers[0]');
  if (!loaded) throw new Error('nothing came of the entry');
  return loaded;
};

/** The model's name after the stage's request half, which the modules here write their findings into. */
const said = (loaded: LoadedStage): string => {
  if ('problem' in loaded) return loaded.problem;
  return loaded.stage.request?.(plainRequest, new Losses('test'), stageContext()).model ?? 'no request half';
};

const typed = `
  import { type ModelRequest, transformer, Type } from 'junctor/transformer';
  import { word } from './part.ts';
  export default transformer({
    name: 'typed',
    options: Type.Object({ tail: Type.String() }),
    request: (request: ModelRequest, { tail }): ModelRequest => ({ ...request, model: word(request.model) + tail }),
  });`;
const part = `export const word = (text: string): string => text + '-part';`;

const good: readonly (readonly [title: string, path: string, files: Readonly<Record<string, string>>, said: string])[] =
  [
    ['TypeScript with a file of its own', 'stages/a.ts', { 'stages/a.ts': typed, 'stages/part.ts': part }, 'm-part!'],
    [
      'a file of its own under its later name',
      'a.mts',
      { 'a.mts': typed.replace('part.ts', 'part.js'), 'part.ts': part },
      'm-part!',
    ],
    ['JavaScript', 'a.js', { 'a.js': `export default { name: 'a', request: (r) => ({ ...r, model: 'js' }) };` }, 'js'],
    [
      'an .mjs file',
      'a.mjs',
      { 'a.mjs': `export default { name: 'a', request: (r) => ({ ...r, model: 'mjs' }) };` },
      'mjs',
    ],
    [
      'CommonJS',
      'a.cjs',
      { 'a.cjs': `module.exports = { name: 'a', request: (r) => ({ ...r, model: 'cjs' }) };` },
      'cjs',
    ],
    [
      'JavaScript in a folder that says CommonJS',
      'a.js',
      {
        'package.json': '{"type":"commonjs"}',
        'a.js': `export default { name: 'a', request: (r) => ({ ...r, model: 'js' }) };`,
      },
      'js',
    ],
    [
      'a function of the options',
      'a.ts',
      {
        'a.ts': `export default (o: { tail: string }) => ({ name: 'a', request: (r: object) => ({ ...r, model: 'f' + o.tail }) });`,
      },
      'f!',
    ],
    [
      'a function that takes its time',
      'a.js',
      { 'a.js': `export default async (o) => ({ name: 'a', request: (r) => ({ ...r, model: 'late' + o.tail }) });` },
      'late!',
    ],
    [
      'a function that gives a transformer',
      'a.ts',
      { 'a.ts': typed.replace('export default transformer(', 'export default () => transformer('), 'part.ts': part },
      'm-part!',
    ],
    [
      'a transformer without options',
      'a.ts',
      {
        'a.ts': `import { transformer } from 'junctor/transformer';
        export default transformer({ name: 'a', request: (r) => ({ ...r, model: 'plain' }) });`,
      },
      'plain',
    ],
    [
      "the gateway's own packages",
      'a.js',
      {
        'a.js': `import { map } from 'rxjs'; import { fromFetch } from 'rxjs/fetch'; import Type from 'typebox';
        import { rx } from 'junctor/transformer';
        import { rx as scoped } from 'junctor/transformer';
        const same = rx.map === map && scoped === rx && typeof fromFetch === 'function' && typeof Type.Object === 'function';
        export default { name: 'a', request: (r) => ({ ...r, model: String(same) }) };`,
      },
      'true',
    ],
    [
      'a package of its own',
      'a.js',
      {
        'node_modules/own/package.json': '{"type":"module","exports":"./own.js"}',
        'node_modules/own/own.js': `export const own = 'own';`,
        'a.js': `import { own } from 'own'; export default { name: 'a', request: (r) => ({ ...r, model: own }) };`,
      },
      'own',
    ],
  ];

for (const [title, path, files, model] of good) {
  test(`${title} loads`, async (t) => {
    const { loaded } = await load(t, files, path, { tail: '!' });
    t.is(said(loaded), model);
  });
}

const bad: readonly (readonly [title: string, source: string, problem: RegExp])[] = [
  ['a syntax error', 'export default {', /a\.js: /],
  ['an import that is not there', `import './none.js'; export default {};`, /none\.js/],
  ['an error while loading', `throw new Error('no luck');`, /no luck/],
  ['no default export', 'export const a = 1;', /no default export/],
  ['a number', 'export default 5;', /must be a transformer/],
  ['a function that gives nothing', 'export default () => {};', /must be a transformer/],
  ['a function that throws', `export default () => { throw new Error('no luck'); };`, /no luck/],
  ['no name', 'export default { request: (r) => r };', /no name/],
  ['no half at all', `export default { name: 'a' };`, /none of/],
  ['a request half that is none', `export default { name: 'a', request: {} };`, /request half must be a function/],
  ['an operator for a machine', `export default { name: 'a', events: (s) => s };`, /operators\.events/],
  ['a machine for an operator', `export default { name: 'a', operators: { events: {} } };`, /must be an RxJS operator/],
  [
    'the same half twice',
    `export default { name: 'a', request: (r) => r, operators: { request: (s) => s } };`,
    /twice/,
  ],
  [
    "options that don't fit",
    `import { transformer, Type } from 'junctor/transformer';
     export default transformer({ name: 'a', options: Type.Object({ n: Type.Integer(), o: Type.Null() }), request: (r) => r });`,
    /:\n- options\.n is required\n- options\.o is required$/,
  ],
];

for (const [title, source, problem] of bad) {
  test(`${title} is a problem, not an error`, async (t) => {
    const { loaded } = await load(t, { 'a.js': source }, 'a.js');
    t.true('problem' in loaded);
    t.regex(said(loaded), problem);
  });
}

test("options that are missing get the schema's defaults, and the published schema doesn't require them", async (t) => {
  const source = `
    import { transformer, Type } from 'junctor/transformer';
    const Limits = Type.Object({ most: Type.Integer({ default: 3 }), unit: Type.String() });
    export default transformer({
      name: 'a',
      options: Type.Object({
        tail: Type.String({ default: '~' }),
        limits: Type.Object(Limits.properties, { default: { unit: 'MB' } }),
        own: Type.Optional(Type.Boolean()),
      }),
      request: (request, options) => ({ ...request, model: JSON.stringify(options) }),
    });`;
  const given = { limits: { unit: 'KB' } };
  const { loaded, home } = await load(t, { 'a.ts': source }, 'a.ts', given);
  t.deepEqual(JSON.parse(said(loaded)), { tail: '~', limits: { most: 3, unit: 'KB' } });
  t.deepEqual(given, { limits: { unit: 'KB' } });
  const schema = 'problem' in loaded ? undefined : loaded.schema;
  t.like(schema, { required: [], properties: { limits: { required: ['unit'] } } });
  const unset = await loadAgain(home, 'a.ts');
  t.deepEqual(JSON.parse(said(unset)), { tail: '~', limits: { most: 3, unit: 'MB' } });
  t.regex(said(await loadAgain(home, 'a.ts', { tail: 5 })), /options\.tail must be string/);
});

test('a later load sees the current module and its files', async (t) => {
  const files = { 'a.ts': typed, 'part.ts': part };
  const { home } = await load(t, files, 'a.ts', { tail: '!' });
  await writeFile(join(home, 'part.ts'), part.replace('-part', '-later'));
  t.is(said(await loadAgain(home, 'a.ts', { tail: '?' })), 'm-later?');
});

test("a fault of a module is one of the gateway's own", async (t) => {
  const source = `import { fail } from 'junctor/transformer';
    export default { name: 'a', request: () => fail('invalid-request', 'not so') };`;
  const { loaded } = await load(t, { 'a.js': source }, 'a.js');
  t.throws(() => said(loaded), { instanceOf: FaultError, message: 'not so' });
});
