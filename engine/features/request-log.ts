import type { Feature } from '../feature.ts';
import type { RequestHooks } from '../http/settings.ts';
import type { Logs } from '../log/logs.ts';
import { type Fault, FaultError } from '../model/fault.ts';
import type { Losses } from '../model/loss.ts';
import type { ObservedCall, ObservedFailure, Watcher } from '../observer.ts';
import type { Gateway } from '../routing/gateway.ts';

/** Logs model requests. */
export const requestLog: Feature = {
  watch: ({ id, gateway, namedClient }) => new RequestLog(id, gateway, namedClient),
};

/** Logs one request's destination, failures and losses in the application log, and counts the losses. */
class RequestLog implements Watcher {
  readonly #requestId: string;
  readonly #gateway: Pick<Gateway, 'log' | 'losses'>;
  readonly #namedClient: string | undefined;
  #losses: Losses | undefined;
  /** Losses that are logged. */
  #logged = 0;

  constructor(requestId: string, gateway: Pick<Gateway, 'log' | 'losses'>, namedClient?: string) {
    this.#requestId = requestId;
    this.#gateway = gateway;
    this.#namedClient = namedClient;
  }

  /** Logs the destination, the reason and the losses; once per destination, not per retry. */
  encoded({ client, progress, resolution, passThrough, context, call, retries }: ObservedCall): void {
    const { log, losses } = this.#gateway;
    this.#logReplyLosses();
    this.#losses = context.losses;
    this.#logged = context.losses.size;
    if (retries > 0) return;
    const { provider, model, scenario, reason, tokens, warnings } = resolution;
    const { list } = context.losses;
    log.routed({
      // Spread into so many members, they would cost 3.6 KB per request.
      requestId: this.#requestId,
      namedClient: this.#namedClient,
      provider: provider.name,
      model,
      client: client.wire,
      requestedModel: progress.requestedModel,
      scenario,
      reason,
      tokens,
      url: call.url.origin + call.url.pathname,
      relays: passThrough,
      losses: list.length > 0 ? list : undefined,
    });
    if (list.length > 0) losses.count(list);
    for (const warning of warnings) log.warn(warning, this.#who);
  }

  attemptFailed({ provider, model, fault, message, keyNumber, next }: ObservedFailure): void {
    const { kind, status } = fault;
    const fields = { ...this.#who, kind, status, keyNumber, next };
    this.#gateway.log.warn(`attempt at ${provider},${model} failed: ${message}`, fields);
  }

  stageFailed({ message, kind }: Fault, cause: unknown): void {
    const stack = cause instanceof Error ? cause.stack : cause;
    this.#gateway.log.error(message, { ...this.#who, kind, stack });
  }

  failed({ kind, message, status, param }: Fault, error: unknown): void {
    const { log } = this.#gateway;
    const fields = { ...this.#who, kind, status, param };
    if (!(error instanceof FaultError)) log.error('internal error', { ...fields, stack: stackOf(error) });
    else if (error.cause !== undefined) log.error(message, { ...fields, stack: stackOf(error.cause) });
    else log.warn(message, fields);
  }

  finished(): void {
    this.#logReplyLosses();
  }

  get #who(): { readonly requestId: string; readonly namedClient: string | undefined } {
    return { requestId: this.#requestId, namedClient: this.#namedClient };
  }

  #logReplyLosses(): void {
    if (!this.#losses || this.#losses.size === this.#logged) return;
    const losses = this.#losses.list.slice(this.#logged);
    this.#logged = this.#losses.size;
    this.#gateway.log.info('losses in the answer', { ...this.#who, losses });
    this.#gateway.losses.count(losses);
  }
}

const stackOf = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error));

/** Logs two records per request to the server log. */
export const httpLog = ({ server, app }: Logs): RequestHooks => ({
  started({ number, method, path, query, remoteAddress }) {
    const url = query === '' ? path : `${path}?${query}`;
    server.request({ reqId: number, method, url, remoteAddress });
  },
  finished({ number }, { status, durationMs, aborted }) {
    server.completed({ reqId: number, statusCode: status, responseTimeMs: durationMs, aborted });
  },
  failed(error, requestId) {
    app.error('internal error', { requestId, stack: error instanceof Error ? error.stack : String(error) });
  },
  warn: (line) => app.warn(line),
});
