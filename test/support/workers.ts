import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import type { ExecutionContext } from 'ava';

/** The answer of a worker. */
interface WorkerAnswer {
  readonly status: number;
  readonly text: string;
  readonly headers: IncomingHttpHeaders;
}

/** One worker of a service: all of its requests go out on one connection, which that process has accepted. */
export interface WorkerConnection {
  readonly pid: number;
  readonly fetch: (path: string, more?: WorkerRequest) => Promise<WorkerAnswer>;
}

interface WorkerRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** Connects to so many processes of a service, in the order of their PIDs; the kernel chooses who accepts a connection. */
export const connectToWorkers = async (
  t: ExecutionContext,
  baseUrl: string,
  count: number,
  headers: Readonly<Record<string, string>> = {},
): Promise<readonly [WorkerConnection, WorkerConnection]> => {
  const found = new Map<number, WorkerConnection>();
  while (found.size < count) {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    t.teardown(() => agent.destroy());
    const fetch = fetchOver(agent, baseUrl);
    const { answeredBy } = JSON.parse((await fetch('/api/service', { headers })).text);
    if (found.has(answeredBy)) agent.destroy();
    else found.set(answeredBy, { pid: answeredBy, fetch });
  }
  const [first, second] = [...found.values()].toSorted((one, other) => one.pid - other.pid);
  if (!(first && second)) throw new Error('The service has one process.');
  return [first, second];
};

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
