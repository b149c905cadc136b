import type { Routed } from '../exchange.ts';
import { fail } from '../model/fault.ts';
import { fallbacksOf } from '../routing/fallbacks.ts';
import type { Gateway } from '../routing/gateway.ts';

/** Vendors count differently than the gateway. A prompt is surely too long where it exceeds the window by half. */
const margin = 1.5;

/** A body with fewer bytes per token of this limit isn't looked into: its prompt may well fit. */
const leastBytesPerToken = 4;

/**
 * Refuses a prompt that surely exceeds the model's known window, in the words on which clients compact a conversation: some servers
 * would silently cut it. Goes on where a fallback may have room, or no window is known; then the vendor decides.
 */
export const refuseOverlong = (gateway: Pick<Gateway, 'config' | 'tokens' | 'modelFacts' | 'pools'>) => {
  const { config, tokens, modelFacts, pools } = gateway;
  return (routed: Routed): Routed => {
    const { plan, body, request, outline, resolution } = routed;
    const { window } = plan;
    if (window === undefined || body.length < window * margin * leastBytesPerToken) return routed;
    const size = tokens.sizeBeside(request, window * margin, body.length, outline);
    if (!size || size.by === 'estimate' || size.tokens <= window * margin) return routed;
    const rooms = fallbacksOf(resolution, config, (pool) => pools.ranked(pool, resolution.scenario, routed)).map(
      modelFacts,
    );
    if (rooms.some(({ context }) => context === undefined || size.tokens <= context * margin)) return routed;
    return fail('upstream-context', `prompt is too long: ${size.tokens} tokens > ${window} maximum`);
  };
};
