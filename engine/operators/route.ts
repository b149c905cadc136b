import { from, map } from 'rxjs';
import type { Decoded, Routed } from '../exchange.ts';
import { leadTo } from '../lead-to.ts';
import { resolveRoute, sizeMatters } from '../routing/resolve.ts';
import type { PromptSize } from '../tokens/prompt-tokens.ts';
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
    const resolved = (size: PromptSize | undefined): Routed =>
      leadTo(decoded, resolveRoute(request, yard.config, size), yard);
    if (!sizeMatters(request, yard.config)) return resolved(undefined);
    const { config, tokens } = yard;
    const size = tokens.sizeBeside(request, config.router.longContextThreshold, body.length);
    return size ? resolved(size) : from(tokens.count(request)).pipe(map(resolved));
  };
