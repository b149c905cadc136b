import { type Decoded, fill, type Routed } from '../../exchange.ts';
import { toClientPath } from '../../model/client-paths.ts';
import { Losses } from '../../model/loss.ts';
import { ToolNames } from '../../model/wire/tool-names.ts';
import type { Gateway } from '../../routing/gateway.ts';
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
  return fill(decoded, { request, resolution, plan, context, apiKey: provider.apiKeys[0] ?? '', retries: 0 });
};
