import test from 'ava';
import { addressIn, commandRig } from '../../../support/processes/command.ts';
import { connectToWorkers, type WorkerConnection } from '../../../support/processes/workers.ts';

interface Written {
  readonly Providers: readonly { readonly name: string; readonly models: readonly string[] }[];
}

test('of two changes at once exactly one wins, and each process serves it', async (t) => {
  t.timeout(300_000);
  const rig = await commandRig(t, {
    WORKERS: 2,
    Providers: [{ name: 'p', baseUrl: 'http://127.0.0.1:9', apiKey: '', models: ['m'] }],
  });
  const started = await rig.ask(['start', '--daemon']);
  t.is(started.code, 0, started.err);
  const workers = await connectToWorkers(t, addressIn(started.out), 2);
  const read = async ({ fetch }: WorkerConnection) => {
    const { text, headers } = await fetch('/api/config');
    const source: Written = JSON.parse(text);
    return { source, etag: headers.etag ?? '' };
  };
  // A process whose turn doesn't come within its 10 s, on a busy machine, says so and changes nothing.
  const post = async ({ fetch }: WorkerConnection, body: object, headers = {}) => {
    for (;;) {
      const answer = await fetch('/api/config', { method: 'POST', headers, body });
      if (answer.status !== 503) return answer;
      t.regex(answer.text, /^{"success":false,"message":"Another process is changing the configuration/);
    }
  };
  for (let round = 0; round < 10; round += 1) {
    const [{ source, etag }, other] = await Promise.all([read(workers[0]), read(workers[1])]);
    t.is(other.etag, etag);
    const change = (worker: number) => ({
      ...source,
      Providers: source.Providers.map((provider) => ({ ...provider, models: ['m', `of-${round}-${worker}`] })),
    });
    const answers = await Promise.all(
      workers.map((connection, worker) => post(connection, change(worker), { 'if-match': etag })),
    );
    t.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 412], answers.map(({ text }) => text).join(' '));
    const winner = answers.findIndex(({ status }) => status === 200);
    t.regex(answers[winner]?.text ?? '', /^{"success":true,"message":"The configuration was saved and is in use\."}$/);
    for (const worker of workers) {
      t.is((await read(worker)).source.Providers[0]?.models[1], `of-${round}-${winner}`, 'it is in use in all of them');
    }
  }
  // Without a condition both are taken, one after the other.
  const { source } = await read(workers[0]);
  const both = await Promise.all(workers.map((connection) => post(connection, source)));
  t.deepEqual(
    both.map(({ status }) => status),
    [200, 200],
  );
  // A process that doesn't answer is waited for, but not for long.
  const [one, two] = workers;
  t.teardown(() => process.kill(two.pid, 'SIGCONT'));
  process.kill(two.pid, 'SIGSTOP');
  const alone = await post(one, source);
  t.is(alone.status, 200);
  t.regex(alone.text, /is in use\. Warning: 1 other process of the service didn't apply it in time/);
});
