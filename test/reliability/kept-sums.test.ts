import test from 'ava';
import type { ClientList } from '../../admin/schema.ts';
import type { HistoryPage, HistorySums } from '../../engine/features/record/schema.ts';
import type { UsageReport } from '../../engine/features/usage/schema.ts';
import { adminKey, client, keyOf } from '../engine/features/clients/rig.ts';
import { addressIn, commandRig } from '../support/processes/command.ts';
import { chatReply } from '../support/upstreams/chat-stream.ts';
import { jsonAnswer, startUpstream } from '../support/upstreams/upstream.ts';

/** A number below `n`, from a sequence that is the same each time. */
const numbers = (seed: number) => {
  let state = seed;
  return (n: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * n);
  };
};

const prices = { input: 1, output: 10 };

for (const workers of [1, 2]) {
  test(`under load, restarts and kills, the history, the sums and the use of clients have the same requests, tokens and costs; ${workers} workers`, async (t) => {
    const below = numbers(workers);
    const upstream = await startUpstream(() => {
      const [input, output] = [below(1_000), below(100)];
      const kind = below(10);
      if (kind === 0) return jsonAnswer({ error: { message: 'no' } }, 400);
      if (kind === 1) return jsonAnswer({ ...chatReply('It counts nothing.'), usage: undefined });
      return jsonAnswer({ ...chatReply('Hi.'), usage: { prompt_tokens: input, completion_tokens: output } });
    });
    t.teardown(upstream.close);
    const names = ['one', 'two', 'three'];
    const clientOf = (name: string) => client(name, name === 'three' ? { limits: { requestsPerMinute: 12 } } : {});
    const { begin } = await commandRig(t, {
      ...{ PORT: 0, WORKERS: workers, APIKEY: adminKey, LOG: false, CLIENTS: names.map(clientOf) },
      Providers: [
        {
          ...{ name: 'p', baseUrl: `${upstream.url}/v1`, apiKey: 'k' },
          models: ['a', 'b'].map((name) => ({ name, price: prices })),
        },
      ],
      Router: { default: 'p,a' },
    });
    const read = async <T>(baseUrl: string, path: string): Promise<T> =>
      JSON.parse(await (await fetch(`${baseUrl}${path}`, { headers: { 'x-api-key': adminKey } })).text());
    /** Requests that an answer of the API had: they are on disk. */
    let told = new Set<string>();
    let sent = 0;
    const send = async (baseUrl: string): Promise<void> => {
      sent += 1;
      const name = names[below(names.length)] ?? '';
      const headers = { 'x-api-key': keyOf(name), 'x-request-id': `r${sent}` };
      const body = JSON.stringify({ model: `p,${'ab'[below(2)]}`, messages: [{ role: 'user', content: 'Hello' }] });
      await fetch(`${baseUrl}/v1/chat/completions`, { method: 'POST', headers, body }).then(
        (answer) => answer.text(),
        () => undefined,
      );
    };
    const rounds = ['SIGKILL', 'SIGTERM', 'SIGKILL', 'SIGKILL'] as const;
    for (const signal of rounds) {
      const service = begin(['start']);
      await service.says('listens on');
      const baseUrl = addressIn(service.out());
      const load = async (): Promise<void> => {
        for (let n = 0; n < 20; n += 1) await send(baseUrl);
      };
      await Promise.all([load(), load(), load()]);
      const { requests } = await read<HistoryPage>(baseUrl, '/api/history?limit=500');
      const found = new Set(requests.map(({ id }) => id));
      t.deepEqual(
        [...told].filter((id) => !found.has(id)),
        [],
        'what was told is kept',
      );
      told = found;
      const more = Promise.all([load(), load()]);
      for (let n = below(30); n > 0; n -= 1) await send(baseUrl);
      service.child.kill(signal);
      await Promise.all([service.ended, more]);
      // A worker ends a little later than a killed supervisor.
    }
    const last = begin(['start']);
    await last.says('listens on');
    const baseUrl = addressIn(last.out());
    const { sums } = await read<HistorySums>(baseUrl, '/api/history/sums');
    const total = (of: (sum: HistorySums['sums'][number]) => number, name?: string): number =>
      sums.filter((sum) => name === undefined || sum.client === name).reduce((all, sum) => all + of(sum), 0);
    for (const step of ['none', 'hour', 'minute']) {
      const usage = await read<UsageReport>(baseUrl, `/api/usage?by=client&from=1h&step=${step}`);
      for (const name of names) {
        const rows = usage.rows.filter((row) => row.name === name);
        const sum = (of: (row: (typeof rows)[number]) => number): number => rows.reduce((all, row) => all + of(row), 0);
        t.deepEqual(
          {
            requests: sum(({ requests }) => requests),
            errors: sum(({ errors }) => errors),
            tokens: sum(({ input, output }) => input + output),
            cost: sum(({ cost }) => cost),
          },
          {
            requests: total(({ requests }) => requests, name),
            errors: total(({ failed }) => failed, name),
            tokens: total(({ tokens }) => tokens, name),
            cost: total(({ cost }) => cost, name),
          },
          `${name} ${step}`,
        );
      }
    }
    const { requests } = await read<HistoryPage>(baseUrl, '/api/history?limit=500');
    const { clients } = await read<ClientList>(baseUrl, '/api/clients');
    for (const { name, usage } of clients) {
      const admitted = requests.filter((one) => one.client === name && one.admitted === true);
      const { month } = usage;
      t.deepEqual(
        { requests: month.requests, tokens: month.input + month.output, cost: month.cost, unpriced: month.unpriced },
        {
          requests: admitted.length,
          tokens: total(({ tokens }) => tokens, name),
          cost: total(({ cost }) => cost, name),
          unpriced: 0,
        },
        `${name}'s use`,
      );
    }
    t.true(
      requests.some(({ status, admitted }) => status === 429 && !admitted),
      'some were refused',
    );
    t.true(
      requests.some(({ estimated }) => estimated === true),
      'some are estimated',
    );
    const ids = new Set(requests.map(({ id }) => id));
    t.true([...told].every((id) => ids.has(id)) && ids.size >= 60 * rounds.length - 100, `${ids.size}`);
    t.is(
      total(({ requests }) => requests),
      (await read<UsageReport>(baseUrl, '/api/usage')).total.requests,
    );
  });
}
