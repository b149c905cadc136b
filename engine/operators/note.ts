import type { Ready } from '../exchange.ts';
import type { Yard } from '../yard/yard.ts';

/** Writes down where a request goes and why, and what it loses on the way; once, however often it is sent there. */
export const note =
  (yard: Yard) =>
  (ready: Ready): Ready => {
    const { id, client, asked, resolution, relays, context, call, repeats } = ready;
    if (repeats > 0) return ready;
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
    if (context.losses.size > 0) yard.losses.count(context.losses.list);
    for (const warning of warnings) yard.log.warn(warning, { requestId: id });
    return ready;
  };
