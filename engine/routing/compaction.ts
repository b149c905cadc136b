import type { Fault } from '../model/fault.ts';
import type { ClientProtocol } from '../model/protocol.ts';
import type { ModelRequest } from '../model/request.ts';
import type { Plan } from './plan/plan.ts';

/** Back-off before a destination that refused or ignored a compaction is asked for one again, in milliseconds. */
const rememberedMs = 600_000;

/** When such a destination is asked again, by its plan, so that a new configuration asks again. */
const askedAgainMs = new WeakMap<Plan, number>();

/** Whether the vendor summarizes the conversation in the client's own format. */
export const compactsItself = (plan: Plan, client: ClientProtocol, nowMs: number): boolean =>
  plan.upstream.compacts === true && plan.upstream.wire === client.wire && nowMs >= (askedAgainMs.get(plan) ?? 0);

/** Statuses of servers that don't have the path of a request. */
const unknownPaths: ReadonlySet<number> = new Set([404, 405, 501]);

/** Statuses of servers that don't know a member of the body, whose words then name it. */
const unknownMembers: ReadonlySet<number> = new Set([400, 422]);

/** Whether the upstream has no compaction. A server without the path for it isn't asked again for a while. `nowMs`: of the health's clock. */
export const refusesCompaction = (
  { request, plan }: { readonly request: ModelRequest; readonly plan: Plan },
  { message, param, code }: Fault,
  status: number,
  nowMs: number,
): boolean => {
  if (request.compaction?.byPath !== true)
    return unknownMembers.has(status) && /compaction/.test(`${message} ${param ?? ''}`);
  // What names a member or the model is about the request.
  if (!unknownPaths.has(status) || param !== undefined || code === 'model_not_found') return false;
  leaveCompaction(plan, nowMs);
  return true;
};

/** The destination isn't asked for a compaction for a while: it doesn't know what that is. */
export const leaveCompaction = (plan: Plan, nowMs: number): void => {
  askedAgainMs.set(plan, nowMs + rememberedMs);
};
