import { type MonoTypeOperatorFunction, tap } from 'rxjs';
import type { Ready } from '../exchange.ts';
import type { Yard } from '../yard/yard.ts';

/** Writes down where a request goes and why, and what it loses on the way; once, however often it is sent there. */
export const note = (yard: Yard): MonoTypeOperatorFunction<Ready> =>
  tap(({ id, client, asked, resolution, relays, context, call, repeats }) => {
    if (repeats > 0) return;
    const { provider, model, scenario, reason, tokens, warnings } = resolution;
    yard.log.info(`routed to ${provider.name},${model}`, {
      requestId: id,
      client: client.wire,
      asked: asked.model,
      scenario,
      reason,
      tokens,
      url: call.url.origin + call.url.pathname,
      relays,
      losses: context.losses.size > 0 ? context.losses.list : undefined,
    });
    yard.losses.count(context.losses.list);
    for (const warning of warnings) yard.log.warn(warning, { requestId: id });
  });
