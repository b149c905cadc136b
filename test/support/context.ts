import { Buffer } from 'node:buffer';
import type { Exchange } from '../../engine/exchange.ts';
import type { ReplyContext } from '../../engine/model/context.ts';
import { Losses } from '../../engine/model/loss.ts';
import type { ModelRequest } from '../../engine/model/request.ts';
import { ToolNames } from '../../engine/model/wire/tool-names.ts';
import { Backpressure } from '../../engine/runtime/backpressure.ts';

/** The smallest request there is. */
export const plainRequest: ModelRequest = { model: 'm', system: [], turns: [], tools: [], stream: true };

/** A reply context with fixed ids and times. */
export const replyContext = (over: Partial<ReplyContext> = {}): ReplyContext => ({
  id: '0123456789abcdef01234567',
  startedAtMs: 1_700_000_000_000,
  nowMs: () => 1_700_000_002_500,
  request: plainRequest,
  clientBody: {},
  model: 'm',
  names: new ToolNames(),
  losses: new Losses('test'),
  inputEstimate: 0,
  ...over,
});

/** A request with this body that came over no listener. */
export const incomingOf = (body: object | Uint8Array): Exchange['incoming'] => ({
  id: 'req_1',
  startedAtMs: 0,
  body: body instanceof Uint8Array ? body : Buffer.from(JSON.stringify(body)),
  header: () => undefined,
  backpressure: new Backpressure(),
});
