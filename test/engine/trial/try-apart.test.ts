import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { tryApart } from '../../../engine/trial/try-apart.ts';
import type { TrialJob } from '../../../engine/trial/try-thread-main.ts';

const tried = async (t: ExecutionContext, source: string, job: Partial<TrialJob> = {}, limits = {}) => {
  const folder = await mkdtemp(join(tmpdir(), 'junctor-try-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const stage = join(folder, 'x.ts');
  await writeFile(stage, source);
  return tryApart({ stage, limitMs: 100, ...job }, limits);
};

const module = (body: string): string =>
  `import { rx, transformer } from 'junctor/transformer';\nexport default transformer({ name: 'x', ${body} });\n`;

test.serial('a trial says what changes, what it costs, and what was checked', async (t) => {
  const source = module('request: (request) => ({ ...request, temperature: 0 })');
  const report = await tried(t, source, { request: 'Why?', answer: 'Because.' });
  t.like(report, {
    stage: 'x',
    request: { before: { temperature: undefined }, after: { temperature: 0 } },
    calls: [{ kind: 'next', to: null }],
    fault: null,
    problems: [],
  });
  t.true(report.cuts > 5 && report.leaves > 3);
  t.true(report.cost !== null && report.cost.requestMs >= 0 && report.cost.deltaUs >= 0);
});

/** Modules that can't be tried at all, and why. */
const unusable: readonly (readonly [what: string, source: string, says: RegExp])[] = [
  ['no default export', 'export const x = 1;', /x\.ts can't be used: its module has no default export$/],
  ['no stage', 'export default 3;', /x\.ts can't be used: its default export must be a transformer, or a function/],
  ['no TypeScript', 'export default {', /x\.ts can't be used: .*x\.ts/],
  ['an error as it is loaded', "throw new Error('not today');", /x\.ts can't be used: not today$/],
  ['a package that is missing', "import 'no-such-package';\nexport default {};", /can't be used: .*no-such-package/],
  [
    'an error that nothing waits for',
    module("request(request) { setTimeout(() => { throw new Error('late'); }, 1); return request; }"),
    /x\.ts throws where nothing waits for it: late$/,
  ],
  [
    'a loop without end',
    module('request() { for (;;); }'),
    /x\.ts blocks everything for 2000 ms: a loop without end\?$/,
  ],
  ['an end of the process', module('request() { process.exit(3); }'), /x\.ts ends its process \(exit code 3\)\.$/],
];

for (const [what, source, says] of unusable) {
  test.serial(`what can’t be tried: ${what}`, async (t) => {
    const error = await t.throwsAsync(tried(t, source, {}, what.startsWith('a loop') ? { blockedMs: 2_000 } : {}));
    t.regex(error.message, says);
    t.notRegex(error.message, /\n/);
  });
}

/** Modules that aren't as they must be, and what is said of them. */
const faulty: readonly (readonly [what: string, source: string, says: RegExp])[] = [
  [
    'a half that throws, with its line',
    module("\nrequest() {\n throw new Error('no');\n}"),
    /^Transformer "x" failed on the request: Error: no \(.*x\.ts:4:\d+\)$/,
  ],
  [
    'a change in place, with its line',
    module('\nrequest(request) {\n request.turns.pop();\n return request;\n}'),
    /^Transformer "x" failed on the request: TypeError: .* \(.*x\.ts:4:\d+\)\. It changes what it was given in place/,
  ],
  [
    'an answer that never ends',
    module('operators: () => ({ events: (source) => rx.concat(source, rx.NEVER) })'),
    /^Transformer "x" did not end within 100 ms after its input\.$/,
  ],
  [
    'a question without leave',
    module("async around(request, next, context) { await context.ask('p,m', 'May I?'); return next(request); }"),
    /^Transformer "x" failed in ask\("p,m"\): has no leave/,
  ],
  [
    'an answer that depends on its cuts',
    module(
      "operators: () => ({ events: rx.map((batch) => batch.map((event) => event.type === 'text-delta' ? { ...event, text: event.text.replaceAll('ab', 'c') } : event)) })",
    ),
    /^Transformer "x" makes a difference if the model's answer comes a character at a time: the client gets "xaby" and not "xcy"\.$/,
  ],
  [
    'a timer that stays, with its line',
    module('\nrequest(request) {\n setTimeout(() => undefined, 60_000);\n return request;\n}'),
    /^Transformer "x" leaves a timer of 60000 ms \(.*x\.ts:4:\d+\) behind after its answer has ended\.$/,
  ],
  [
    'a server that stays',
    module('\nrequest(request) {\n createServer().listen(0);\n return request;\n}').replace(
      'import',
      "import { createServer } from 'node:net';\nimport",
    ),
    /^Transformer "x" leaves a server \(.*x\.ts:5:\d+\) behind after its answer has ended\.$/,
  ],
];

for (const [what, source, says] of faulty) {
  test.serial(`what is wrong is one line: ${what}`, async (t) => {
    const { problems, cost } = await tried(t, source, { answer: 'xaby' });
    t.is(problems.length, 1);
    t.regex(problems[0] ?? '', says);
    t.notRegex(problems[0] ?? '', /\n/);
    t.is(cost, null);
  });
}
