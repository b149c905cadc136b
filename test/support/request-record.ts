import type { ExecutionContext } from 'ava';
import { ReplyProgress } from '../../engine/exchange.ts';
import type { ObservedRoute } from '../../engine/observe/listener.ts';
import type { RequestRecord, RequestRecords } from '../../engine/request-record.ts';
import { MemoryBudget, MemoryReservation } from '../../engine/runtime/memory-budget.ts';
import { chatClient } from '../../protocols/chat/index.ts';
import { plainRequest, replyContext } from './context.ts';
import { configOf, gatewayOf } from './gateway-of.ts';

/** Begins records of requests that no pipeline serves. */
export const recordStarter = (t: ExecutionContext, records: RequestRecords) => {
  const gateway = gatewayOf(
    t,
    configOf({ Providers: [{ name: 'p', baseUrl: 'http://127.0.0.1:1', apiKey: 'k', models: ['m'] }] }),
  );
  return (more: Partial<Parameters<RequestRecords['begin']>[0]> = {}): RequestRecord =>
    records.begin({
      id: 'req_1',
      startedAtMs: 5,
      preset: undefined,
      client: chatClient,
      namedClient: undefined,
      progress: new ReplyProgress(),
      gateway,
      incoming: {
        method: 'POST',
        path: '/v1/chat/completions',
        query: '',
        headers: {},
        body: new Uint8Array(0),
        header: () => undefined,
        answerMemory: new MemoryReservation(new MemoryBudget(), Number.POSITIVE_INFINITY),
      },
      ...more,
    });
};

/** Tells a record that its request has this destination. */
export const routeTo = (record: RequestRecord, route: ObservedRoute): void =>
  record.routed({
    request: plainRequest,
    resolution: { reason: 'the default', warnings: [], ...route },
    context: replyContext(),
    apiKey: 'k',
  });
