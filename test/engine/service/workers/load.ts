import { Agent, request } from 'node:http';

/** What became of a load's requests. */
interface LoadResult {
  readonly whole: number;
  /** How requests failed, and how often each way. */
  readonly failures: Readonly<Record<string, number>>;
}

/** Streams that go on until they are told to end; then those at work are awaited. */
interface Load {
  /** Requests that have ended, whole or not. */
  readonly ended: () => number;
  readonly end: () => Promise<LoadResult>;
}

const body = JSON.stringify({
  model: 'p,m',
  max_tokens: 64,
  stream: true,
  messages: [{ role: 'user', content: 'Tell me.' }],
});

/** So many streams at a time, one after the other in each lane; every second lane keeps its connection for the next one. */
export const startLoad = (baseUrl: string, lanes: number): Load => {
  const kept = new Agent({ keepAlive: true });
  const failures: Record<string, number> = {};
  let whole = 0;
  let ending = false;
  const one = (agent: Agent | false): Promise<void> =>
    new Promise((resolve) => {
      let text = '';
      const settle = (failure: string | undefined): void => {
        if (failure === undefined) whole += 1;
        else failures[failure] = (failures[failure] ?? 0) + 1;
        resolve();
      };
      const sent = request(`${baseUrl}/v1/messages`, {
        agent,
        method: 'POST',
        headers: { 'content-type': 'application/json' },
      });
      sent.once('error', (error) => settle(`${error.message}${sent.reusedSocket ? ' (kept connection)' : ''}`));
      sent.once('response', (response) => {
        response.setEncoding('utf8').on('data', (data) => {
          text += data;
        });
        response.once('close', () => {
          const isWhole = response.statusCode === 200 && response.complete && text.includes('event: message_stop');
          settle(isWhole ? undefined : `status ${response.statusCode}, ${text.slice(-100)}`);
        });
      });
      sent.end(body);
    });
  const lane = async (_: unknown, index: number): Promise<void> => {
    while (!ending) await one(index % 2 === 0 ? kept : false);
  };
  const all = Promise.all(Array.from({ length: lanes }, lane));
  return {
    ended: () => whole + Object.values(failures).reduce((sum, times) => sum + times, 0),
    async end() {
      ending = true;
      await all;
      kept.destroy();
      return { whole, failures };
    },
  };
};
