import { from, map } from 'rxjs';
import type { Decoded, Relays, Routed } from '../exchange.ts';
import { clientSpelling } from '../model/client-spelling.ts';
import { FaultError, fail } from '../model/fault.ts';
import { Losses } from '../model/loss.ts';
import { ToolNames } from '../model/tool-names.ts';
import { roughTokens } from '../rough-tokens.ts';
import { resolveRoute, sizeMatters } from '../routing/resolve.ts';
import type { PromptSize } from '../tokens/prompt-tokens.ts';
import type { Line } from '../yard/line.ts';
import type { Yard } from '../yard/yard.ts';
import type { Step } from './steps.ts';

/**
 * Finds out who answers, and through which stages. Waits where only a count of the prompt's tokens can tell. Throws `no-route`
 * when nobody can.
 */
export const route =
  (yard: Yard): Step<Decoded, Routed> =>
  (decoded) => {
    const { request, body } = decoded;
    if (!sizeMatters(request, yard.config)) return routed(decoded, yard, undefined);
    const { config, tokens } = yard;
    const size = tokens.sizeBeside(request, config.router.longContextThreshold, body.length);
    if (size) return routed(decoded, yard, size);
    return from(tokens.count(request)).pipe(map((counted) => routed(decoded, yard, counted)));
  };

const routed = (decoded: Decoded, yard: Yard, size: PromptSize | undefined): Routed => {
  const { client, request, asked, delivery, seed, startedAtMs } = decoded;
  const resolution = resolveRoute(request, yard.config, size);
  const line = yard.lineTo({ client, provider: resolution.provider, model: resolution.model });
  if (line.fault) throw new FaultError(line.fault);
  if (line.upstream.wire !== client.wire) refuseOwnWireFields(decoded);
  const context = {
    id: seed,
    startedAtMs,
    request: resolution.request,
    asked,
    model: resolution.model,
    names: new ToolNames(),
    losses: new Losses(client.wire, clientSpelling(client.fieldNames, asked)),
    inputEstimate: resolution.tokens ?? roughTokens(request, decoded.text.length),
  };
  delivery.context = context;
  return {
    ...decoded,
    request: resolution.request,
    resolution,
    line,
    context,
    relays: relaysOf(decoded, line, resolution.tagged),
  };
};

/** State kept by one vendor means nothing to another: going on without it would give a wrong answer unnoticed. */
const refuseOwnWireFields = ({ client, asked }: Decoded): void => {
  const field = client.ownWireField?.(asked);
  if (field === undefined) return;
  fail(
    'unsupported',
    `${field} needs an upstream that speaks the ${client.wire} format itself; this route's doesn't.`,
    {
      param: field,
      code: 'unsupported_parameter',
    },
  );
};

const relaysOf = ({ client, request, asked }: Decoded, { upstream, graph }: Line, tagged: boolean): Relays => {
  const asItCame = !tagged && !client.mends?.(asked) && (upstream.takesAsItCame?.(request) ?? true);
  return {
    request: graph.requestPassage.open && asItCame,
    reply: graph.replyPassage.open,
  };
};
