import type { Feature, FeatureFolder } from '../../feature.ts';
import { FaultError } from '../../model/fault.ts';
import type { RequestRecord } from '../../request-record.ts';
import { memoize } from '../../runtime/memoize.ts';

/** Configurations whose first request without a judge was logged: coding agents send many. */
const toldUnjudged = new WeakSet<object>();

/** Logs requests' destinations, failures and losses in the application log, and counts the losses. */
const logging: Feature = {
  listener: {
    /** Logs the destination, the reason and the losses; once per destination, not per retry. */
    encoded({ client, progress, resolution, relays, context, call, retries, unjudged }, record) {
      if (retries > 0) return;
      const { log, losses, config } = record.start.gateway;
      const { provider, model, scenario, reason, tokens, warnings } = resolution;
      const { list } = context.losses;
      log.routed({
        // Spread into so many members, they would cost 3.6 KB per request.
        requestId: record.id,
        namedClient: record.namedClient,
        provider: provider.name,
        model,
        client: client.wire,
        requestedModel: progress.requestedModel,
        scenario,
        reason,
        tokens,
        url: addressOf(call.url),
        relays: relays,
        losses: list.length > 0 ? list : undefined,
      });
      if (list.length > 0) losses.count(list);
      for (const warning of warnings) log.warn(warning, who(record));
      if (unjudged !== undefined && !toldUnjudged.has(config)) {
        toldUnjudged.add(config);
        log.warn(unjudged, who(record));
      }
    },
    answerLost(losses, record) {
      const { gateway } = record.start;
      gateway.log.info('losses in the answer', { ...who(record), losses });
      gateway.losses.count(losses);
    },
    attemptFailed({ provider, model, fault, message, keyNumber, next }, record) {
      const { kind, status } = fault;
      const fields = { ...who(record), kind, status, keyNumber, next };
      record.start.gateway.log.warn(`attempt at ${provider},${model} failed: ${message}`, fields);
    },
    stageFailed({ message, kind }, cause, record) {
      const stack = cause instanceof Error ? cause.stack : cause;
      record.start.gateway.log.error(message, { ...who(record), kind, stack });
    },
    finished(_, record) {
      const { session, usage, cost, upstreamId } = record;
      const { gateway } = record.start;
      if (upstreamId !== undefined) gateway.log.debug('ended', who(record));
      if (gateway.registry.custom.size > 0) gateway.spending.add({ session, usage, cost });
    },
    stageLogged(stage, text, fields, record) {
      record.start.gateway.log.info(`${stage}: ${text}`, { ...who(record), stage, fields });
    },
    failed({ kind, message, status, param }, error, record) {
      const { log } = record.start.gateway;
      const fields = { ...who(record), kind, status, param };
      if (!(error instanceof FaultError)) log.error('internal error', { ...fields, stack: stackOf(error) });
      else if (error.cause !== undefined) log.error(message, { ...fields, stack: stackOf(error.cause) });
      else log.warn(message, fields);
    },
  },
};

/** Logs requests in the application log. */
export const requestLog: FeatureFolder = { configured: () => true, open: async () => logging };

/** A URL without its query, which may hold a key. Calls share their URLs. */
const addressOf = memoize((url: URL) => url.origin + url.pathname);

const who = ({ id, namedClient, upstreamId }: RequestRecord) => ({
  requestId: id,
  namedClient,
  upstreamRequestId: upstreamId,
});

const stackOf = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error));
