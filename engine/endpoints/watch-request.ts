import type { RequestAdmission } from '../exchange.ts';
import type { Feature, RequestWatcher } from '../feature.ts';
import type { TraceCarrier, Watcher } from '../observe/observer.ts';
import type { RequestRecord } from '../request-record.ts';
import type { Gateway } from '../routing/gateway.ts';

/** What the features do about requests. */
type RequestFeatures = readonly Pick<Feature, 'watch'>[];

/** Who watches a request, and what it may use. */
interface WatchedRequest {
  readonly admission: RequestAdmission | undefined;
  readonly trace: TraceCarrier | undefined;
  /** The gateway that serves it: it may report the request's steps. */
  readonly gateway: Gateway;
}

/** Lets the features watch a request. */
export const requestWatch = (
  features: RequestFeatures,
): ((record: RequestRecord, admission: (RequestAdmission & Watcher) | undefined) => WatchedRequest) => {
  const watches = features.flatMap(({ watch }) => watch ?? []);
  return (record, admission) => {
    const watchers: Watcher[] = admission ? [admission] : [];
    let { gateway } = record.start;
    let trace: TraceCarrier | undefined;
    for (const watch of watches) {
      const watcher = watch(record);
      if (!watcher) continue;
      watchers.push(watcher);
      const { inspection } = watcher;
      if (inspection) {
        watchers.push(inspection.watcher);
        gateway = inspection.gateway;
      }
      if (isCarrier(watcher)) trace = watcher;
    }
    record.watchedBy(watchers);
    return { admission, trace, gateway };
  };
};

const isCarrier = (watcher: RequestWatcher): watcher is RequestWatcher & TraceCarrier =>
  watcher.callHeaders !== undefined && watcher.childHeaders !== undefined;
