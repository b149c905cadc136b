import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import type { ExecutionContext } from 'ava';

/** The answer of a worker. */
interface WorkerAnswer {
  readonly status: number;
  readonly text: string;
  readonly headers: IncomingHttpHeaders;
}

/** One worker of a service: all of its requests go out on connections which that process has accepted. */
export interface WorkerConnection {
  readonly pid: number;
  readonly fetch: (path: string, more?: WorkerRequest) => Promise<WorkerAnswer>;
}

interface WorkerRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** A connection that was idle for so long is replaced, in milliseconds: a service closes those that are idle for 10 s. */
const maxIdleMs = 3_000;

/** Connects to so many processes of a service, in the order of their PIDs; the kernel chooses who accepts a connection. */
export const connectToWorkers = async (
  t: ExecutionContext,
  baseUrl: string,
  count: number,
  headers: Readonly<Record<string, string>> = {},
): Promise<readonly [WorkerConnection, WorkerConnection]> => {
  const connect = async (): Promise<Connection> => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    t.teardown(() => agent.destroy());
    const { answeredBy } = JSON.parse((await fetchOver(agent, baseUrl)('/api/service', { headers })).text);
    return { pid: answeredBy, agent };
  };
  const workerOf = (first: Connection): WorkerConnection => {
    const { pid } = first;
    let { agent } = first;
    let usedMs = performance.now();
    return {
      pid,
      async fetch(path, more) {
        while (performance.now() - usedMs > maxIdleMs) {
          // Throws once the process has ended.
          process.kill(pid, 0);
          const next = await connect();
          if (next.pid !== pid) {
            next.agent.destroy();
            continue;
          }
          agent = next.agent;
          usedMs = performance.now();
        }
        const answer = await fetchOver(agent, baseUrl)(path, more);
        usedMs = performance.now();
        return answer;
      },
    };
  };
  const found = new Map<number, WorkerConnection>();
  while (found.size < count) {
    const connection = await connect();
    if (found.has(connection.pid)) connection.agent.destroy();
    else found.set(connection.pid, workerOf(connection));
  }
  const [first, second] = [...found.values()].toSorted((one, other) => one.pid - other.pid);
  if (!(first && second)) throw new Error('The service has one process.');
  return [first, second];
};

interface Connection {
  readonly pid: number;
  readonly agent: Agent;
}

const fetchOver =
  (agent: Agent, baseUrl: string): WorkerConnection['fetch'] =>
  (path, { method = 'GET', headers = {}, body } = {}) =>
    new Promise((resolve, reject) => {
      const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
      const sent = request(`${baseUrl}${path}`, {
        agent,
        method,
        headers: { ...(text !== undefined && { 'content-type': 'application/json' }), ...headers },
      });
      sent.once('error', reject);
      sent.once('response', (response) => {
        let answer = '';
        response.setEncoding('utf8').on('data', (data) => {
          answer += data;
        });
        response.once('error', reject);
        response.once('end', () =>
          resolve({ status: response.statusCode ?? 0, text: answer, headers: response.headers }),
        );
      });
      sent.end(text);
    });
