import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { addressIn, commandRig } from '../../support/processes/command.ts';
import { until } from '../../support/until.ts';
import { chatReply } from '../../support/upstreams/chat-stream.ts';
import { jsonAnswer, startUpstream } from '../../support/upstreams/upstream.ts';

const provider = (name: string, more: object = {}) => ({
  name,
  baseUrl: `http://127.0.0.1:9/${name}`,
  apiKey: 'k',
  models: ['m1'],
  ...more,
});

/** Each part has a fault of another kind. */
const faulty = {
  PORT: 'many',
  Providers: [provider('alpha'), provider('beta', { models: [5] })],
  Router: {
    default: 'alpha/m1',
    routes: { think: 'gamma,x', background: 7 },
    rules: [{ name: 'one', when: { modle: 'x' }, to: 'alpha,m1' }, { name: 'two', when: {}, to: 'delta,x' }, 5],
  },
  fallback: { default: ['nowhere,x'] },
  transformers: ['nope', { path: './none.ts' }, { name: 'maxtoken', options: { max_tokens: 'x' } }],
};

const paths = [
  'PORT',
  'Providers[1].models[0]',
  'Router.default',
  'Router.routes.think',
  'Router.routes.background',
  'Router.rules[0].when.modle',
  'Router.rules[1].to',
  'Router.rules[2]',
  'fallback.default[0]',
  'transformers[0]',
  'transformers[1].path',
  'transformers[2].options.max_tokens',
];

/** The paths in lines that begin so. */
const pathsIn = (text: string, before: RegExp): readonly string[] =>
  text
    .split('\n')
    .filter((line) => before.test(line))
    .map((line) => line.replace(before, '').split(' ')[0] ?? '')
    .toSorted();

test('F6 every fault is told at once: by config check, by a start, by the running service, and by a restart', async (t) => {
  const { home, ask, run } = await commandRig(t);
  const file = join(home, 'config.json');
  await writeFile(file, JSON.stringify(faulty));
  const checked = await ask(['config', 'check']);
  t.is(checked.code, 1);
  const wanted = [...paths].toSorted();
  t.deepEqual(pathsIn(checked.out, /^fault +/), wanted);
  t.regex(checked.out, /Router\.default .*did you mean "alpha,m1"\?/);
  t.regex(checked.err, /Judged by this shell's environment/);

  // A start tolerates modules that can't be loaded: they may be mended while it runs.
  const started = await run(['start']);
  t.is(started.code, 1);
  t.deepEqual(
    pathsIn(started.err, /^ {2}(?=\S)/),
    wanted.filter((path) => path !== 'transformers[1].path'),
  );

  await writeFile(file, JSON.stringify({ PORT: 0, Providers: [provider('alpha')], Router: { default: 'alpha,m1' } }));
  const running = await ask(['start', '--daemon']);
  t.is(running.code, 0, running.err);
  const baseUrl = addressIn(running.out);
  await writeFile(file, JSON.stringify(faulty));
  const live = await ask(['config', 'check']);
  t.deepEqual(pathsIn(live.out, /^fault +/), wanted);
  t.regex(live.err, /Judged by the running service/);
  const restarted = await ask(['restart']);
  t.is(restarted.code, 1);
  t.deepEqual(pathsIn(restarted.err, /^ {2}(?=\S)/), wanted);
  const saved = await fetch(`${baseUrl}/api/config`, { method: 'POST', body: JSON.stringify(faulty) });
  t.deepEqual(pathsIn(JSON.parse(await saved.text()).message, /^- /), wanted);

  await writeFile(file, '{\n  "PORT": 0\n  "Providers": [{"name": "a"}, {"name": "b"}],\n  "Router": {}\n}');
  for (const words of [['config', 'check'], ['restart']]) {
    const { code, out, err } = await ask(words);
    t.is(code, 1);
    t.is((out + err).match(/is not valid JSON/g)?.length, 1, out + err);
    t.regex(out + err, /comma expected at line 3, column 3/);
  }
});

test('F4 a restart with a file that a reload refuses keeps the last good one, and ends with 1 and the fault', async (t) => {
  const { home, ask } = await commandRig(t, { Providers: [provider('alpha')], Router: { default: 'alpha,m1' } });
  const running = await ask(['start', '--daemon']);
  t.is(running.code, 0, running.err);
  const baseUrl = addressIn(running.out);
  const restarts = async () => JSON.parse(await (await fetch(`${baseUrl}/api/service`)).text()).restarts;
  const file = join(home, 'config.json');
  const good = { PORT: 0, Providers: [provider('alpha')] };
  const cases: readonly (readonly [config: object, fault: RegExp])[] = [
    [{ ...good, Router: { default: 'alpha,m1', module: './none.js' } }, /Router\.module can't be used: \.\/none\.js/],
    [{ ...good, transformers: [{ path: './none.js' }] }, /transformers\[0\]\.path can't be used/],
    [{ ...good, transformers: ['nope'] }, /transformers\[0\] names a transformer that is not loaded/],
    [{ ...good, Router: { default: 'gone,m1' } }, /Router\.default names the unknown provider "gone"/],
  ];
  for (const [config, fault] of cases) {
    await writeFile(file, JSON.stringify(config));
    const { code, err } = await ask(['restart']);
    t.is(code, 1, JSON.stringify(config));
    t.regex(err, /was not restarted, and goes on/);
    t.regex(err, fault);
    t.is(await restarts(), 0);
    t.is((await fetch(`${baseUrl}/health`)).status, 200);
  }
  await writeFile(file, JSON.stringify({ ...good, Router: { default: 'alpha,m1' } }));
  t.is((await ask(['restart'])).code, 0);
  t.is(await restarts(), 1);
});

/** Files that no service takes over, and why. */
const refused: readonly (readonly [config: object | string, fault: RegExp])[] = [
  [{ Router: { default: 'alpha,m1', module: './none.js' } }, /Router\.module can't be used: \.\/none\.js/],
  [{ transformers: [{ path: './none.js' }] }, /transformers\[0\]\.path can't be used/],
  [{ transformers: ['nope'] }, /transformers\[0\] names a transformer that is not loaded/],
  [{ Router: { default: 'gone,m1' } }, /Router\.default names the unknown provider "gone"/],
  ['{', /is not valid JSON/],
];

for (const workers of [1, 2]) {
  test(`with ${workers} processes, a signal, a restart and a check judge a refused or removed file alike, and the service goes on`, async (t) => {
    const good = { PORT: 0, WORKERS: workers, Providers: [provider('alpha')], Router: { default: 'alpha,m1' } };
    const { home, ask } = await commandRig(t, good);
    const running = await ask(['start', '--daemon']);
    t.is(running.code, 0, running.err);
    const baseUrl = addressIn(running.out);
    const service = async () => JSON.parse(await (await fetch(`${baseUrl}/api/service`)).text());
    const { pid, restarts } = await service();
    t.is(restarts, 0);
    const file = join(home, 'config.json');
    const said = async (): Promise<readonly string[]> =>
      (await readFile(join(home, 'start.log'), 'utf8'))
        .split('the restart failed; the service continues unchanged')
        .slice(1);
    const judgedAlike = async (fault: RegExp): Promise<void> => {
      const checked = await ask(['config', 'check']);
      t.is(checked.code, 1);
      t.regex(checked.out + checked.err, fault);
      const restarted = await ask(['restart']);
      t.is(restarted.code, 1);
      t.regex(restarted.err, fault);
      const before = (await said()).length;
      process.kill(pid, 'SIGHUP');
      await until(async () => (await said()).length > before);
      await until(async () => fault.test((await said()).at(-1) ?? ''));
      t.like(await service(), { pid, restarts: 0 });
      t.is((await fetch(`${baseUrl}/health`)).status, 200);
    };
    for (const [config, fault] of refused) {
      await writeFile(file, typeof config === 'string' ? config : JSON.stringify({ ...good, ...config }));
      await judgedAlike(fault);
    }
    await rm(file);
    await judgedAlike(/was removed; the running one stays in use/);
    await writeFile(file, JSON.stringify(good));
    process.kill(pid, 'SIGHUP');
    await until(async () => (await service()).restarts === 1);
  });
}

test('a first start tolerates a module that cannot be used, names it as a check does, and serves what does not need it', async (t) => {
  const upstream = await startUpstream(() => jsonAnswer(chatReply('Hello')));
  t.teardown(() => upstream.close());
  const alpha = provider('alpha', { baseUrl: upstream.url });
  const config = { PORT: 0, Providers: [alpha], Router: { default: 'alpha,m1', module: './none.js' } };
  const { ask } = await commandRig(t, config);
  const fault = /Router\.module can't be used: \.\/none\.js/;
  const checked = await ask(['config', 'check']);
  t.is(checked.code, 1);
  t.regex(checked.out, fault);
  const { code, out, err } = await ask(['start', '--daemon']);
  t.is(code, 0, err);
  t.regex(err, fault);
  t.regex((await ask(['config', 'check'])).out, fault);
  const statusOf = async (model: string) => {
    const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi.' }] });
    const answer = await fetch(`${addressIn(out)}/v1/chat/completions`, { method: 'POST', body });
    return [answer.status, await answer.text()] as const;
  };
  t.is((await statusOf('alpha,m1'))[0], 200);
  const [status, text] = await statusOf('any');
  t.is(status, 500);
  t.regex(text, /none\.js/);
});

test('F5 the dry run is the live path: the environment of the running service, and the fallback where a destination cannot be called', async (t) => {
  const config = {
    Providers: [provider('alpha', { apiKey: '$ALPHA_KEY' }), provider('beta', { apiKey: '$BETA_KEY' })],
    Router: { default: 'alpha,m1', fallback: { default: ['beta,m1'] } },
  };
  const { ask } = await commandRig(t, config);
  const question = ['explain', '--model', 'any'];
  const here = await ask(question);
  t.is(here.code, 1);
  t.regex(here.err, /this shell's environment/);
  const fallback = await ask(question, { env: { BETA_KEY: 'k2' } });
  t.is(fallback.code, 0, fallback.err);
  t.regex(fallback.out, /^route +beta,m1/m);
  t.regex(fallback.out, /fallback, since alpha,m1 could not serve/);

  const running = await ask(['start', '--daemon'], { env: { ALPHA_KEY: 'k1' } });
  t.is(running.code, 0, running.err);
  const live = await ask(question);
  t.is(live.code, 0, live.err);
  t.regex(live.out, /^route +alpha,m1/m);
  const checked = await ask(['config', 'check']);
  t.is(checked.code, 0);
  t.notRegex(checked.out, /ALPHA_KEY/);
  t.regex(checked.out, /BETA_KEY/);
  const refused = await ask(['explain', '--model', 'gone,x']);
  t.is(refused.code, 1);
  t.regex(refused.err, /The request would be rejected: .*gone/);
});

test('F6 a preset that cannot be used is told with the configuration, and stops nothing', async (t) => {
  const { home, ask } = await commandRig(t, { Providers: [provider('alpha')], Router: { default: 'alpha,m1' } });
  await mkdir(join(home, 'presets', 'fast'), { recursive: true });
  await writeFile(join(home, 'presets', 'fast', 'manifest.json'), '{"Router": {"default": "gone,x"}}');
  const { code, out } = await ask(['config', 'check']);
  t.is(code, 0);
  t.regex(out, /^warning +presets\/fast: Router\.default names the unknown provider "gone"/m);
});
