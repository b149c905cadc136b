import type { Decoded, Relays, Routed } from './exchange.ts';
import { clientSpelling } from './model/client-spelling.ts';
import { Losses } from './model/loss.ts';
import { ToolNames } from './model/tool-names.ts';
import { roughTokens } from './rough-tokens.ts';
import type { Resolution } from './routing/resolve.ts';
import type { Line } from './yard/line.ts';
import type { Yard } from './yard/yard.ts';

/** Puts a request on the line to a destination, with losses and names of its own: what an earlier try recorded isn't this one's. */
export const leadTo = (decoded: Decoded, resolution: Resolution, yard: Yard): Routed => {
  const { client, asked, delivery, seed, startedAtMs } = decoded;
  const { request, provider, model } = resolution;
  const line = yard.lineTo({ client, provider, model });
  const context = {
    id: seed,
    startedAtMs,
    request,
    asked,
    model,
    names: new ToolNames(),
    losses: new Losses(client.wire, clientSpelling(client.fieldNames, asked)),
    inputEstimate: resolution.tokens ?? roughTokens(request, decoded.text.length),
  };
  delivery.context = context;
  return {
    ...decoded,
    request,
    resolution,
    line,
    context,
    relays: relaysOf(decoded, line, resolution.tagged),
    apiKey: provider.apiKeys[0] ?? '',
    repeats: 0,
  };
};

const relaysOf = ({ client, request, asked }: Decoded, { upstream, graph }: Line, tagged: boolean): Relays => {
  const asItCame = !tagged && !client.mends?.(asked) && (upstream.takesAsItCame?.(request) ?? true);
  return {
    request: graph.requestPassage.open && asItCame,
    reply: graph.replyPassage.open,
  };
};
