import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import test from 'ava';
import { defer, delay, firstValueFrom, map, of, tap } from 'rxjs';
import { currentStage, withContext } from '../../../../engine/config/custom/stage-context.ts';
import type { ModelEvent } from '../../../../engine/model/event.ts';
import { machine } from '../../../../engine/model/machine.ts';
import { plainRequest } from '../../../support/context.ts';
import { addressIn, commandRig } from '../../../support/processes/command.ts';
import { stageContext } from '../../../support/stage-context.ts';
import { jsonAnswer, startUpstream } from '../../../support/upstreams/upstream.ts';

test("a stage's code runs under its name, the gateway's around it under none, however late", async (t) => {
  const seen: (readonly [who: string, at: string | undefined])[] = [];
  const see = (who: string): void => void seen.push([who, currentStage()]);
  const stage = withContext({
    name: 's',
    events: machine<null, ModelEvent, ModelEvent>({ initial: () => null, step() {}, end: () => see('machine') }),
    operators: {
      request: (source) =>
        source.pipe(
          tap(() => see('operator')),
          delay(1),
          map((request) => {
            see('operator, later');
            return request;
          }),
        ),
    },
  });
  stage.events?.start({} as never).end([]);
  const above = defer(() => {
    see('above');
    return of(plainRequest);
  });
  const operator = stage.operators?.request ?? ((source) => source);
  await firstValueFrom(
    above.pipe(
      (source) => operator(source, stageContext()),
      tap(() => see('below')),
    ),
  );
  see('after');
  t.deepEqual(seen, [
    ['machine', 's'],
    ['above', undefined],
    ['operator', 's'],
    ['operator, later', 's'],
    ['below', undefined],
    ['after', undefined],
  ]);
});

/** Empty until something is written. */
const readLog = (home: string): string => {
  const path = join(home, 'app.log');
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
};

const modules = {
  'late.js': `export default { name: 'late', request: (request) => {
    setTimeout(() => { throw new Error('thrown late'); }, 0);
    return request;
  } };`,
  'rejects.js': `export default { name: 'rejects', request: (request) => {
    Promise.reject(new Error('left alone'));
    return request;
  } };`,
  'operator.js': `import { delay, tap } from 'rxjs';
  export default { name: 'operator', operators: { request: (source) => source.pipe(
    delay(1), tap(() => { setTimeout(() => { throw 'no error at all'; }, 0); })) } };`,
  'machine.js': `export default { name: 'machine', events: { start: () => ({
    step(event, out) { out.push(event); if (event.type === 'message-stop') Promise.reject(new Error('at the end')); },
    end() {} }) } };`,
  'loads.js': `let open;
  new Promise((resolve) => { open = resolve; }).then(() => { throw new Error('from the module'); });
  export default { name: 'loads', request: (request) => { open(); return request; } };`,
};

test('late errors of custom stages are logged with their names, and the service keeps running', async (t) => {
  const upstream = await startUpstream(() =>
    jsonAnswer({
      id: 'c',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', content: 'fine' }, finish_reason: 'stop' }],
    }),
  );
  t.teardown(upstream.close);
  const { home, begin } = await commandRig(t, {
    Providers: [{ name: 'p', baseUrl: upstream.url, apiKey: 'k', models: ['m'] }],
    Router: { default: 'p,m' },
    transformers: Object.keys(modules).map((path) => ({ path })),
  });
  for (const [name, text] of Object.entries(modules)) writeFileSync(join(home, name), text);
  const service = begin(['start']);
  await service.says('Try it');
  const baseUrl = addressIn(service.out());
  for (let count = 0; count < 3; count += 1) {
    const answer = await fetch(`${baseUrl}/v1/messages`, {
      method: 'POST',
      body: JSON.stringify({ model: 'any', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] }),
    }).catch((error: Error) => t.fail(`${error.cause}\n${service.out()}`));
    if (typeof answer === 'boolean') return;
    t.is(answer.status, 200);
    t.regex(await answer.text(), /fine/);
  }
  const expected = [
    'transformer "late" left behind an uncaught error: thrown late',
    'transformer "rejects" left behind an unhandled rejection: left alone',
    'transformer "operator" left behind an uncaught error: no error at all',
    'transformer "machine" left behind an unhandled rejection: at the end',
    'transformer "loads" left behind an unhandled rejection: from the module',
  ];
  const logged = (): readonly string[] =>
    readLog(home)
      .split('\n')
      .filter((line) => line.includes('left behind'))
      .map((line) => JSON.parse(line).msg);
  while (!expected.every((line) => logged().includes(line)) && service.child.exitCode === null) await wait(50);
  t.is(service.child.exitCode, null);
  service.child.kill('SIGTERM');
  t.is((await service.ended).code, 0);
});

test("errors that belong to no stage are logged with their stack; a rejection doesn't end the service, a thrown one does", async (t) => {
  const { home, begin } = await commandRig(t, { Providers: [] });
  const script = `let asked = 0;
  process.on('SIGUSR2', () => {
    asked += 1;
    const error = new Error('ours ' + asked);
    if (asked === 1) Promise.reject(error);
    else throw error;
  });`;
  const service = begin(['start'], {
    env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}` },
  });
  await service.says('Try it');
  const log = (): string => readLog(home);
  service.child.kill('SIGUSR2');
  while (!log().includes('the gateway met an unhandled rejection: ours 1') && service.child.exitCode === null)
    await wait(50);
  t.is((await fetch(`${addressIn(service.out())}/health`)).status, 200);
  service.child.kill('SIGUSR2');
  const { code, err } = await service.ended;
  t.is(code, 1);
  t.regex(err, /error: the gateway met an uncaught error; app\.log has the details\nError: ours 2\n {4}at /);
  t.regex(log(), /the gateway met an uncaught error: ours 2/);
  t.regex(log(), /"stack":"Error: ours 2\\n/);
  t.throws(() => readFileSync(join(home, 'junctor.pid')), { code: 'ENOENT' });
});
