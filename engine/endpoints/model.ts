import { Exchange, ReplyProgress } from '../exchange.ts';
import { admissionOf, type Feature } from '../feature.ts';
import type { Endpoint } from '../http/endpoint.ts';
import { randomHex } from '../http/headers.ts';
import type { ClientProtocol } from '../model/protocol.ts';
import { createPipeline } from '../pipeline.ts';
import { RequestRecords } from '../request-record.ts';
import type { CurrentGateway } from '../routing/gateway.ts';
import { memoize } from '../runtime/memoize.ts';
import { type CallingEndpoint, RequestCalls } from './request-calls.ts';

/** Endpoint for model requests of one client protocol; each uses the gateway of that moment, and the features listen. */
export const modelEndpoint = (
  client: ClientProtocol,
  current: CurrentGateway,
  features: readonly Pick<Feature, 'admit' | 'listener'>[],
  records: RequestRecords = recordsFor(features),
): Endpoint => {
  const admit = admissionOf(features);
  const endpoint: CallingEndpoint = { client, records, admit };
  return {
    open: false,
    forClients: true,
    reservesValues: true,
    formatFault: client.encodeFault,
    socket: client.socket,
    handle(incoming, { preset }) {
      const { id, startedAtMs, namedClient } = incoming;
      const { gateway } = current;
      const admission =
        namedClient === undefined ? undefined : admit?.({ gateway, namedClient, preset, use: 'answer' });
      const progress = new ReplyProgress();
      const record = records.begin({ id, startedAtMs, preset, client, namedClient, progress, gateway, incoming });
      if (admission) record.listen(admission);
      const { trace, servedBy } = record;
      const seed = randomHex(12);
      const calls =
        gateway.registry.custom.size > 0 || gateway.decides
          ? new RequestCalls({ endpoint, gateway, incoming, record, preset, admission, trace })
          : undefined;
      const exchange = new Exchange({
        incoming,
        client,
        preset,
        seed,
        admission,
        progress,
        listener: record,
        trace,
        calls,
      });
      return servedBy === gateway ? pipelineOf(gateway)(exchange) : createPipeline(servedBy)(exchange);
    },
  };
};

const pipelineOf = memoize(createPipeline);

/** Records to which these features listen. */
const recordsFor = (features: readonly Pick<Feature, 'listener'>[]): RequestRecords => {
  const records = new RequestRecords();
  records.listen(features.flatMap(({ listener }) => listener ?? []));
  return records;
};
