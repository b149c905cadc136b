import { existsSync } from 'node:fs';
import { catalogueRoutes } from '../../admin/config/catalogue.ts';
import { configRoutes } from '../../admin/config/config.ts';
import { explainRoutes } from '../../admin/config/explain.ts';
import { graphRoutes } from '../../admin/config/graph.ts';
import { modelListPaths } from '../../admin/config/models.ts';
import { presetAdminRoutes } from '../../admin/config/presets.ts';
import { providerRoutes } from '../../admin/config/providers.ts';
import { transformerRoutes } from '../../admin/config/transformers.ts';
import { type Health, healthRoutes } from '../../admin/health.ts';
import { logRoutes } from '../../admin/logs.ts';
import { compactDoc, countTokensDoc, inputTokensDoc, modelRouteDoc } from '../../admin/openapi/model-docs.ts';
import { openApiRoutes } from '../../admin/openapi/openapi.ts';
import { type ServiceFacts, serviceRoutes } from '../../admin/service.ts';
import { uiRoutes } from '../../admin/ui.ts';
import type { UiFiles } from '../../admin/ui-files.ts';
import { upstreamRoutes } from '../../admin/upstreams.ts';
import { chatModels } from '../../protocols/chat/models.ts';
import { clientProtocols } from '../../protocols/index.ts';
import { messagesCounting } from '../../protocols/messages/count-tokens.ts';
import { messagesClient } from '../../protocols/messages/index.ts';
import { messagesModels } from '../../protocols/messages/models.ts';
import { messagesCountRequest, messagesSchemas } from '../../protocols/messages/openapi.ts';
import { responsesCounting } from '../../protocols/responses/count-tokens.ts';
import { responsesClient } from '../../protocols/responses/index.ts';
import { responsesSchemas } from '../../protocols/responses/openapi.ts';
import type { ProviderDraft, Validation } from '../config/validate.ts';
import { countTokensEndpoint } from '../endpoints/count-tokens.ts';
import type { LocalServerKind } from '../endpoints/local-servers.ts';
import { modelEndpoint } from '../endpoints/model.ts';
import { type ModelPath, presetRoutes } from '../endpoints/presets.ts';
import { admissionOf, type Feature } from '../feature.ts';
import type { DocumentedRoute, OperationDoc } from '../http/documented-route.ts';
import { clientAt } from '../model/protocol.ts';
import type { Logs } from '../observe/log/logs.ts';
import { root, version } from '../paths.ts';
import type { RequestRecords } from '../request-record.ts';
import type { Gateway } from '../routing/gateway.ts';
import type { ReloadableGateway } from './reloadable-gateway.ts';
import type { Supervision } from './workers/worker.ts';

/** Dependencies of the HTTP routes. */
interface HttpRouteParts {
  readonly home: string;
  readonly startedAtMs: number;
  readonly gateway: ReloadableGateway;
  readonly logs: Logs;
  readonly features: readonly Feature[];
  readonly records: RequestRecords;
  /** Validates the current configuration with `provider` added or replaced. */
  readonly configWith: (draft: ProviderDraft) => Validation;
  /** Files of the web interface. */
  readonly ui: () => Promise<UiFiles>;
  readonly health: () => Health;
  /** Supervision of the service; absent: it can't be restarted. */
  readonly supervision: Supervision | undefined;
  readonly facts: () => ServiceFacts;
  /** Addresses at which to look for model servers on this machine. */
  readonly localServerKinds: readonly LocalServerKind[];
  /** Notifies the service's other processes of new model lists. */
  readonly modelsRefreshed: () => void;
  readonly waits: Waits;
}

/** How long the service waits for what it asks of vendors on its own, in milliseconds. */
export interface Waits {
  /** For a vendor's list of models on a first start. */
  readonly modelListMs: number;
  /** For a vendor's count of tokens. */
  readonly countMs: number;
  /** For a provider's answer to a test, or its list of models. */
  readonly trialMs: number;
}

/** Builds all routes of the service, each with its OpenAPI description. */
export const httpRoutes = (parts: HttpRouteParts): readonly DocumentedRoute[] => {
  const { home, startedAtMs, logs, configWith, ui, health, supervision, facts, localServerKinds } = parts;
  const { current, store, presets, build } = parts.gateway;
  const gateway = (): Gateway => current.gateway;
  const protocols = clientProtocols.map(({ protocol }) => protocol);
  const paths = [
    ...modelPaths(parts),
    ...modelListPaths({ listings: [messagesModels], plain: chatModels, startedAtMs }),
  ];
  const routes: readonly DocumentedRoute[] = [
    ...paths.map(({ endpointFor, ...row }) => ({ ...row, endpoint: endpointFor(current) })),
    ...presetRoutes(paths, current, presets),
    ...configRoutes(store),
    ...logRoutes(home, logs),
    ...transformerRoutes(
      () => gateway().registry,
      () => gateway().config.transformers,
    ),
    ...graphRoutes(gateway, protocols),
    ...explainRoutes(gateway, protocols, parts.gateway.aside),
    ...providerRoutes({ client: messagesClient, configWith, build, limitMs: parts.waits.trialMs, localServerKinds }),
    ...catalogueRoutes({
      gateway,
      client: messagesClient,
      localServerKinds,
      limitMs: parts.waits.trialMs,
      refreshed: parts.modelsRefreshed,
    }),
    ...presetAdminRoutes(home, presets),
    ...uiRoutes(ui, () => existsSync(new URL('ui/build.js', root))),
    ...serviceRoutes(facts, supervision),
    ...upstreamRoutes(gateway),
    ...healthRoutes(health),
    ...parts.features.flatMap((feature) => feature.routes ?? []),
  ];
  return [...routes, ...openApiRoutes(routes, version)];
};

type ClientPath = ModelPath<OperationDoc>;

const post = (path: string, doc: OperationDoc, endpointFor: ClientPath['endpointFor']): ClientPath => ({
  method: 'POST',
  path,
  endpointFor,
  doc,
});

const modelPaths = ({ features, records, waits: { countMs } }: HttpRouteParts): readonly ClientPath[] => {
  const admit = admissionOf(features);
  const counting = { client: messagesClient, ...messagesCounting, limitMs: countMs };
  const countingDoc = { ...countTokensDoc, request: messagesCountRequest, fault: messagesSchemas.fault };
  const { hidden } = messagesCounting;
  const countingInput = { client: responsesClient, ...responsesCounting, hidden, limitMs: countMs };
  const { request, fault } = responsesSchemas;
  return [
    ...clientProtocols.flatMap(({ protocol, paths, schemas }) =>
      paths.map((path) =>
        post(path, modelRouteDoc(schemas), (current) => modelEndpoint(protocol, current, features, records)),
      ),
    ),
    post('/v1/messages/count_tokens', countingDoc, (current) => countTokensEndpoint(counting, current, admit)),
    ...['/v1/responses', '/responses'].flatMap((path) => [
      post(`${path}/input_tokens`, { ...inputTokensDoc, request, fault }, (current) =>
        countTokensEndpoint(countingInput, current, admit),
      ),
      post(`${path}/compact`, { ...compactDoc, request, fault }, (current) =>
        modelEndpoint(clientAt(responsesClient, `${path}/compact`), current, features, records),
      ),
    ]),
  ];
};
