import { configRows } from '../admin/config.ts';
import { explainRows } from '../admin/explain.ts';
import { graphRows } from '../admin/graph.ts';
import { type Health, healthRows } from '../admin/health.ts';
import { logRows } from '../admin/logs.ts';
import { metricsRows } from '../admin/metrics.ts';
import { modelRouteDoc } from '../admin/model-route-doc.ts';
import { modelRows } from '../admin/models.ts';
import { openApiRows, withDocs } from '../admin/openapi.ts';
import type { DocumentedRow, OperationDoc } from '../admin/operation-doc.ts';
import { countTokensDoc } from '../admin/operation-docs.ts';
import { presetAdminRows } from '../admin/presets.ts';
import { providerRows } from '../admin/providers.ts';
import { requestRows } from '../admin/requests.ts';
import { restartRows } from '../admin/restart.ts';
import { rootRows } from '../admin/root.ts';
import { type ServiceFacts, serviceRows } from '../admin/service.ts';
import { serviceDocs } from '../admin/service-docs.ts';
import { transformerRows } from '../admin/transformers.ts';
import { uiRows } from '../admin/ui.ts';
import type { UiFiles } from '../admin/ui-files.ts';
import { upstreamRows } from '../admin/upstreams.ts';
import { chatModels } from '../protocols/chat/encode-models.ts';
import { clientProtocols } from '../protocols/index.ts';
import { messagesCounting } from '../protocols/messages/count-tokens.ts';
import { messagesModels } from '../protocols/messages/encode-models.ts';
import { messagesClient } from '../protocols/messages/index.ts';
import { messagesCountRequest, messagesSchemas } from '../protocols/messages/route-schemas.ts';
import type { Config } from './config/config.ts';
import type { ConfigStore } from './config/store.ts';
import type { Validation } from './config/validate.ts';
import { countTokensEndpoint } from './count-tokens-endpoint.ts';
import type { InUse } from './in-use.ts';
import type { Logs } from './log/index.ts';
import type { Metrics } from './metrics/metrics.ts';
import type { JsonObject } from './model/json.ts';
import { modelEndpoint } from './model-endpoint.ts';
import { type ModelPath, presetRows } from './presets/preset-rows.ts';
import type { Presets } from './presets/presets.ts';
import type { Requests } from './requests/requests.ts';
import type { Supervision } from './workers/fleet.ts';
import type { Yard } from './yard/yard.ts';

/** What all that is served is made from. */
export interface ServedParts {
  readonly home: string;
  readonly version: string;
  readonly startedAtMs: number;
  readonly inUse: () => InUse;
  readonly store: ConfigStore;
  readonly presets: Presets;
  readonly logs: Logs;
  readonly metrics: Metrics;
  readonly requests: Requests;
  /** The configuration in use with this provider in it, checked. */
  readonly configWith: (provider: JsonObject) => Validation;
  /** Compiles a configuration without putting it to use. */
  readonly build: (config: Config) => Promise<Yard>;
  /** The web interface's own files. */
  readonly ui: () => Promise<UiFiles>;
  readonly health: () => Health;
  /** The service that this process is a part of; absent: it can't be restarted. */
  readonly supervision: Supervision | undefined;
  readonly facts: () => ServiceFacts;
}

/** How long an upstream may take to count, in milliseconds. */
const countLimitMs = 2_000;

/** How long a provider that is tried out may take, in milliseconds. */
const trialLimitMs = 15_000;

/** Every path that the service answers at, with its description. */
export const servedPaths = (parts: ServedParts): readonly DocumentedRow[] => {
  const { home, version, startedAtMs, inUse, store, presets, logs, metrics, health, supervision, facts } = parts;
  const { requests, configWith, build, ui } = parts;
  const yard = () => inUse().yard;
  const protocols = clientProtocols.map(({ protocol }) => protocol);
  const paths = modelPaths(metrics, requests);
  const rows = withDocs(
    [
      ...paths.map(({ path, endpointFor }) => ({ method: 'POST', path, endpoint: endpointFor(yard) })),
      ...presetRows(paths, yard, presets),
      ...modelRows({ config: () => inUse().config, listings: [messagesModels], plain: chatModels, startedAtMs }),
      ...configRows(store),
      ...logRows(home, logs),
      ...transformerRows(
        () => inUse().tables,
        () => inUse().config.transformers,
      ),
      ...graphRows(yard, protocols),
      ...explainRows(yard, protocols),
      ...requestRows({
        requests,
        startedAtMs,
        workers: () => facts().fleet.workers.length,
        clients: protocols,
        yardOf: async (preset) => (preset === undefined ? yard() : presets.yardOf(preset)),
      }),
      ...providerRows({ client: messagesClient, configWith, build, limitMs: trialLimitMs }),
      ...presetAdminRows(home, presets),
      ...uiRows(ui),
      ...restartRows(supervision),
      ...serviceRows(facts),
      ...upstreamRows(yard),
      ...metricsRows(metrics),
      ...healthRows(health),
      ...rootRows,
    ],
    { ...serviceDocs, ...modelDocs() },
  );
  return [...rows, ...openApiRows(rows, version)];
};

const countPath = '/v1/messages/count_tokens';

const modelPaths = (metrics: Metrics, requests: Requests): readonly ModelPath[] => {
  const counting = { client: messagesClient, ...messagesCounting, limitMs: countLimitMs };
  return [
    ...clientProtocols.flatMap(({ protocol, paths }) =>
      paths.map(
        (path): ModelPath => ({ path, endpointFor: (yard) => modelEndpoint(protocol, yard, metrics, requests) }),
      ),
    ),
    { path: countPath, endpointFor: (yard) => countTokensEndpoint(counting, yard) },
  ];
};

/** The model routes' descriptions, by method and path; each also below the preset namespace. */
const modelDocs = (): Readonly<Record<string, OperationDoc>> => {
  const counting = { ...countTokensDoc, request: messagesCountRequest, fault: messagesSchemas.fault };
  const docs = [
    ...clientProtocols.flatMap(({ schemas, paths }) => paths.map((path) => [path, modelRouteDoc(schemas)] as const)),
    [countPath, counting] as const,
  ];
  return Object.fromEntries(
    docs.flatMap(([path, doc]) => [
      [`POST ${path}`, doc],
      [`POST /preset/:preset${path}`, doc],
    ]),
  );
};
