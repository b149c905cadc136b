import type { envOverridesIn } from '../engine/config/env.ts';
import type { HttpServerFacts } from '../engine/http/choose-server.ts';
import type { WholeReply } from '../engine/http/endpoint.ts';
import { fail, messageOf } from '../engine/model/fault.ts';
import { adminOperation, done, jsonOperation, jsonReply } from './endpoint.ts';
import { Outcome, ServiceState } from './schema.ts';

/** Facts about the running service. */
export interface ServiceFacts {
  /** The configuration's folder. */
  readonly home: string;
  readonly baseUrl: string;
  readonly http: HttpServerFacts;
  /** Names of the configured providers. */
  readonly providers: readonly string[];
  /** Fields of the configuration that the environment overrides; a secret is among them. */
  readonly overrides: ReturnType<typeof envOverridesIn>;
  readonly processes: ServiceProcesses;
  /** Stalls of this process's event loop. */
  readonly stalls: ServiceState['holds'];
}

/** The processes of the service; times in milliseconds since 1970. */
interface ServiceProcesses {
  /** The process that receives signals for the whole service. */
  readonly pid: number;
  readonly startedAtMs: number;
  readonly restarts: number;
  /** Processes that accept new connections. */
  readonly workers: readonly { readonly pid: number; readonly startedAtMs: number }[];
}

/** A service that can replace its processes. */
interface Restartable {
  /** Resolves once new processes serve; rejects with a message for users. */
  readonly restart: () => Promise<void>;
}

/** The service itself. After a restart, the old processes finish their requests; it is answered once the new ones serve. */
export const serviceOperations = (facts: () => ServiceFacts, supervision: Restartable | undefined) => ({
  restart: adminOperation({
    summary: 'Restarts the service',
    says: 'The restart has begun.',
    reply: Outcome,
    answer: () => restart(supervision),
  }),
  state: jsonOperation({
    summary: 'Which processes serve',
    says: 'The processes.',
    reply: ServiceState,
    answer: () => show(facts()),
  }),
});

const restart = async (supervision: Restartable | undefined): Promise<WholeReply> => {
  if (!supervision) return fail('unavailable', 'This service runs inside another program, which alone can restart it.');
  try {
    await supervision.restart();
    return jsonReply(done('The service was restarted; streams in flight go on to their end.'));
  } catch (error) {
    const message = `The service was not restarted, and goes on: ${messageOf(error)}`;
    return jsonReply({ success: false, message }, 500);
  }
};

const show = ({ home, baseUrl, http, providers, overrides, processes, stalls }: ServiceFacts) => ({
  pid: processes.pid,
  startedAt: new Date(processes.startedAtMs).toISOString(),
  restarts: processes.restarts,
  home,
  baseUrl,
  http: { ...http },
  providers,
  overrides: overrides.map(({ field, variable, text }) => ({
    field,
    variable,
    ...(field !== 'APIKEY' && { value: text }),
  })),
  workers: processes.workers.map(({ pid, startedAtMs }) => ({ pid, startedAt: new Date(startedAtMs).toISOString() })),
  answeredBy: process.pid,
  holds: stalls,
});
