import { Exchange, newReplyProgress } from '../exchange.ts';
import { admissionOf, type Feature, type RequestWatcher } from '../feature.ts';
import type { Endpoint } from '../http/endpoint.ts';
import { randomHex } from '../http/headers.ts';
import type { ClientProtocol } from '../model/protocol.ts';
import type { TraceCarrier, Watcher } from '../observe/observer.ts';
import { createPipeline } from '../pipeline.ts';
import { RequestRecords } from '../request-record.ts';
import type { CurrentGateway } from '../routing/gateway.ts';
import { memoize } from '../runtime/memoize.ts';

/** Endpoint for model requests of one client protocol; each uses the gateway of that moment, and is watched by the features. */
export const modelEndpoint = (
  client: ClientProtocol,
  current: CurrentGateway,
  features: readonly Pick<Feature, 'watch' | 'admit' | 'follow'>[],
  records: RequestRecords = recordsFor(features),
): Endpoint => {
  const watches = features.flatMap(({ watch }) => watch ?? []);
  const admit = admissionOf(features);
  return {
    open: false,
    forClients: true,
    formatFault: client.encodeFault,
    socket: client.socket,
    handle(incoming, { preset }) {
      const { id, startedAtMs, namedClient } = incoming;
      const { gateway } = current;
      const admission =
        namedClient === undefined ? undefined : admit?.({ gateway, namedClient, preset, use: 'answer' });
      const progress = newReplyProgress();
      const record = records.begin({ id, startedAtMs, preset, client, namedClient, progress, gateway, incoming });
      const watchers: Watcher[] = admission ? [admission] : [];
      let serving = gateway;
      let trace: TraceCarrier | undefined;
      for (const watch of watches) {
        const watcher = watch(record);
        if (!watcher) continue;
        watchers.push(watcher);
        const { inspection } = watcher;
        if (inspection) {
          watchers.push(inspection.watcher);
          serving = inspection.gateway;
        }
        if (isCarrier(watcher)) trace = watcher;
      }
      record.watchedBy(watchers);
      const seed = randomHex(12);
      const exchange = new Exchange({ incoming, client, preset, seed, admission, progress, observer: record, trace });
      return serving === gateway ? pipelineOf(gateway)(exchange) : createPipeline(serving)(exchange);
    },
  };
};

const isCarrier = (watcher: RequestWatcher): watcher is RequestWatcher & TraceCarrier =>
  watcher.callHeaders !== undefined;

const pipelineOf = memoize(createPipeline);

/** Records that these features follow. */
const recordsFor = (features: readonly Pick<Feature, 'follow'>[]): RequestRecords => {
  const records = new RequestRecords();
  records.follow(features.flatMap(({ follow }) => follow ?? []));
  return records;
};
