import type { Decoded, Routed } from '../../exchange.ts';
import { toClientPath } from '../../model/client-paths.ts';
import { Losses } from '../../model/loss.ts';
import { ToolNames } from '../../model/wire/tool-names.ts';
import type { PassThrough } from '../../observer.ts';
import type { Gateway } from '../../routing/gateway.ts';
import type { Plan } from '../../routing/plan/plan.ts';
import type { Resolution } from '../../routing/resolve.ts';
import { estimateTokens } from '../../routing/tokens/estimate.ts';

/** Prepares an attempt at a destination. Losses and tool names start afresh, since those of an earlier attempt don't apply. */
export const newAttempt = (decoded: Decoded, resolution: Resolution, gateway: Gateway): Routed => {
  const { client, asked, progress, seed, startedAtMs } = decoded;
  const { request, provider, model } = resolution;
  const plan = gateway.planFor({ client, provider, model });
  const context = {
    id: seed,
    startedAtMs,
    nowMs: Date.now,
    request,
    asked,
    model,
    names: new ToolNames(),
    losses: new Losses(client.wire, toClientPath(client.fieldNames, asked)),
    inputEstimate: resolution.tokens ?? estimateTokens(request, decoded.text.length),
  };
  progress.context = context;
  return {
    ...decoded,
    request,
    resolution,
    plan,
    context,
    passThrough: passThroughOf({ client, asked, request }, plan, resolution.tagged),
    apiKey: provider.apiKeys[0] ?? '',
    retries: 0,
  };
};

const passThroughOf = (
  { client, request, asked }: Pick<Decoded, 'client' | 'request' | 'asked'>,
  { upstream, graph }: Plan,
  tagged: boolean,
): PassThrough => {
  const isVerbatim = !tagged && !client.mends?.(asked) && (upstream.takesAsItCame?.(request) ?? true);
  return {
    request: graph.requestPassThrough.open && isVerbatim,
    reply: graph.replyPassThrough.open && !client.rewritesReply?.(asked),
  };
};
