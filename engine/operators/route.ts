import { map, type OperatorFunction } from 'rxjs';
import type { Decoded, Routed } from '../exchange.ts';
import { leadTo } from '../lead-to.ts';
import { resolveRoute } from '../routing/resolve.ts';
import type { Yard } from '../yard/yard.ts';

/** Finds out who answers, and through which stages. Throws `no-route` when nobody can. */
export const route = (yard: Yard): OperatorFunction<Decoded, Routed> =>
  map((decoded) => leadTo(decoded, resolveRoute(decoded.request, yard.config, yard.countTokens), yard));
