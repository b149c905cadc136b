import { existsSync } from 'node:fs';
import { modelListPaths } from '../../admin/config/models.ts';
import { type Health, healthRoutes } from '../../admin/health.ts';
import { lazyRoutes } from '../../admin/lazy-routes.ts';
import type { ServiceFacts } from '../../admin/service.ts';
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
import { admissionOf } from '../feature.ts';
import type { DocumentedRoute } from '../http/documented-route.ts';
import { clientAt } from '../model/protocol.ts';
import type { Logs } from '../observe/log/logs.ts';
import { root, version } from '../paths.ts';
import type { RequestRecords } from '../request-record.ts';
import type { Gateway } from '../routing/gateway.ts';
import type { OpenFeatures } from './features.ts';
import type { ReloadableGateway } from './reloadable-gateway.ts';
import type { Supervision } from './workers/worker.ts';

/** Dependencies of the HTTP routes. */
interface HttpRouteParts {
  readonly home: string;
  readonly startedAtMs: number;
  readonly gateway: ReloadableGateway;
  readonly logs: Logs;
  readonly features: Pick<OpenFeatures, 'all' | 'routes'>;
  readonly records: RequestRecords;
  /** Validates the current configuration with `provider` added or replaced. */
  readonly configWith: (draft: ProviderDraft) => Validation;
  /** The folder of the built web interface. */
  readonly uiFolder: string;
  readonly health: () => Health;
  /** Supervision of the service; absent: it can't be restarted. */
  readonly supervision: Supervision | undefined;
  readonly facts: () => ServiceFacts;
  /** Addresses at which to look for model servers on this machine; absent: their usual ports. */
  readonly localServerKinds: readonly LocalServerKind[] | undefined;
  /** Notifies the service's other processes of new model lists. */
  readonly modelsRefreshed: () => void;
  readonly waits: Waits;
}

/** Time limit of the service's own questions to vendors, in milliseconds. */
export interface Waits {
  /** For a vendor's list of models on a first start. */
  readonly modelListMs: number;
  /** For a vendor's count of tokens. */
  readonly countMs: number;
  /** For a provider's answer to a test, or its list of models. */
  readonly trialMs: number;
}

/**
 * Returns what builds all routes of the service, with the features that are open then. Those of its own API are loaded by their first
 * request.
 */
export const httpRoutes = (parts: HttpRouteParts): (() => readonly DocumentedRoute[]) => {
  const { startedAtMs, health, features } = parts;
  const { current, presets } = parts.gateway;
  const lists = modelListPaths({ listings: [messagesModels], plain: chatModels, startedAtMs });
  const lasting = [...adminRoutes(parts), ...healthRoutes(health)];
  return () => {
    const paths = [...modelPaths(parts), ...lists];
    const all: readonly DocumentedRoute[] = [
      ...paths.map(({ endpointFor, ...row }) => ({ ...row, endpoint: endpointFor(current) })),
      ...presetRoutes(paths, current, presets),
      ...lasting,
      ...features.routes(),
      ...lazyRoutes({ document: 'GET /openapi.json' }, async () => {
        const { openApiOperations } = await import('../../admin/openapi/openapi.ts');
        return openApiOperations(() => all, version);
      }),
    ];
    return all;
  };
};

/** The service's own API, as far as no feature has it. */
const adminRoutes = (parts: HttpRouteParts): readonly DocumentedRoute[] => {
  const { home, logs, configWith, uiFolder, supervision, facts, localServerKinds, modelsRefreshed: refreshed } = parts;
  const { current, store, presets, build, aside } = parts.gateway;
  const gateway = (): Gateway => current.gateway;
  const protocols = clientProtocols.map(({ protocol }) => protocol);
  const client = messagesClient;
  const limitMs = parts.waits.trialMs;
  return [
    ...lazyRoutes(
      {
        read: 'GET /api/config',
        replace: 'POST /api/config',
        check: 'POST /api/config/check',
        checkFile: 'GET /api/config/check',
        schema: 'GET /api/config/schema',
        backups: 'GET /api/config/backups',
        backup: 'GET /api/config/backups/:name',
        restore: 'POST /api/config/restore',
      },
      async () => (await import('../../admin/config/config.ts')).configOperations(store),
    ),
    ...lazyRoutes({ files: 'GET /api/logs/files', lines: 'GET /api/logs', clear: 'DELETE /api/logs' }, async () =>
      (await import('../../admin/logs.ts')).logOperations(home, logs),
    ),
    ...lazyRoutes({ list: 'GET /api/transformers' }, async () => {
      const { transformerOperations } = await import('../../admin/config/transformers.ts');
      return transformerOperations(
        () => gateway().registry,
        () => gateway().config.transformers,
        () => store.staleModules,
      );
    }),
    ...lazyRoutes({ guides: 'GET /api/clients/guides' }, async () =>
      (await import('../../admin/config/guides.ts')).guideOperations(gateway),
    ),
    ...lazyRoutes({ graph: 'GET /api/graph' }, async () =>
      (await import('../../admin/config/graph.ts')).graphOperations(gateway, protocols),
    ),
    ...lazyRoutes({ explain: 'GET /api/explain', explainBody: 'POST /api/explain' }, async () =>
      (await import('../../admin/config/explain.ts')).explainOperations(gateway, protocols, aside),
    ),
    ...lazyRoutes(
      { test: 'POST /api/providers/test', local: 'GET /api/providers/local', models: 'POST /api/providers/models' },
      async () =>
        (await import('../../admin/config/providers.ts')).providerOperations({
          client,
          configWith,
          build,
          limitMs,
          localServerKinds,
        }),
    ),
    ...lazyRoutes({ models: 'GET /api/models', refresh: 'POST /api/models/refresh' }, async () => {
      const [{ catalogueOperations }, usual] = await Promise.all([
        import('../../admin/config/catalogue.ts'),
        import('../endpoints/local-servers.ts'),
      ]);
      const kinds = localServerKinds ?? usual.localServerKinds;
      return catalogueOperations({
        aliasPrefix: messagesModels.aliasPrefix ?? '',
        gateway,
        client,
        localServerKinds: kinds,
        limitMs,
        refreshed,
      });
    }),
    ...lazyRoutes(
      {
        list: 'GET /api/presets',
        read: 'GET /api/presets/:name',
        save: 'PUT /api/presets/:name',
        remove: 'DELETE /api/presets/:name',
      },
      async () => (await import('../../admin/config/presets.ts')).presetOperations(home, presets),
    ),
    ...lazyRoutes(
      { page: 'GET /ui', redirect: 'GET /ui/', asset: 'GET /ui/assets/*' },
      async () => {
        const { uiFilesIn } = await import('../../admin/ui-files.ts');
        const { uiOperations } = await import('../../admin/ui.ts');
        return uiOperations(uiFilesIn(uiFolder), () => existsSync(new URL('ui/build.js', root)));
      },
      { open: true },
    ),
    ...lazyRoutes({ restart: 'POST /api/restart', state: 'GET /api/service' }, async () =>
      (await import('../../admin/service.ts')).serviceOperations(facts, supervision),
    ),
    ...lazyRoutes({ states: 'GET /api/upstreams', forget: 'DELETE /api/upstreams/taught' }, async () =>
      (await import('../../admin/upstreams.ts')).upstreamOperations(gateway),
    ),
  ];
};

type ClientPath = ModelPath<DocumentedRoute['doc']>;

const docs = () => import('../../admin/openapi/model-docs.ts');

const post = (path: string, doc: ClientPath['doc'], endpointFor: ClientPath['endpointFor']): ClientPath => ({
  method: 'POST',
  path,
  endpointFor,
  doc,
});

const modelPaths = ({ features: open, records, waits: { countMs } }: HttpRouteParts): readonly ClientPath[] => {
  const features = open.all();
  const admit = admissionOf(features);
  const counting = { client: messagesClient, ...messagesCounting, limitMs: countMs };
  const countingDoc = async () => ({
    ...(await docs()).countTokensDoc,
    request: messagesCountRequest,
    fault: messagesSchemas.fault,
  });
  const { hidden } = messagesCounting;
  const countingInput = { client: responsesClient, ...responsesCounting, hidden, limitMs: countMs };
  const { request, fault } = responsesSchemas;
  return [
    ...clientProtocols.flatMap(({ protocol, paths, schemas }) =>
      paths.map((path) =>
        post(
          path,
          async () => (await docs()).modelRouteDoc(schemas),
          (current) => modelEndpoint(protocol, current, features, records),
        ),
      ),
    ),
    post('/v1/messages/count_tokens', countingDoc, (current) => countTokensEndpoint(counting, current, admit)),
    ...['/v1/responses', '/responses'].flatMap((path) => [
      post(
        `${path}/input_tokens`,
        async () => ({ ...(await docs()).inputTokensDoc, request, fault }),
        (current) => countTokensEndpoint(countingInput, current, admit),
      ),
      post(
        `${path}/compact`,
        async () => ({ ...(await docs()).compactDoc, request, fault }),
        (current) => modelEndpoint(clientAt(responsesClient, `${path}/compact`), current, features, records),
      ),
    ]),
  ];
};
