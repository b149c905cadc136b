import { defer, of } from 'rxjs';
import { showReferencesIn } from '../../engine/config/env.ts';
import type { ModelPath } from '../../engine/endpoints/presets.ts';
import type { DocumentedRoute } from '../../engine/http/documented-route.ts';
import type { Endpoint, HttpRequest, WholeReply } from '../../engine/http/endpoint.ts';
import { fail, faultOf, quoted } from '../../engine/model/fault.ts';
import type { JsonObject } from '../../engine/model/json/json.ts';
import type { ClientModel, ClientModels } from '../../engine/model/models/model-catalog.ts';
import { accessOf } from '../../engine/routing/client-access.ts';
import type { Gateway } from '../../engine/routing/gateway.ts';
import { aliasName, modelNames } from '../../engine/routing/model-names.ts';
import { jsonReply } from '../endpoint.ts';

/** The configuration whose models are listed, and what clients with keys of their own may use. */
type Listed = Pick<Gateway, 'config' | 'access' | 'modelFacts'>;

/** A path of the model list, and the factory of its endpoint for a gateway. */
interface ModelListPath extends Omit<ModelPath<DocumentedRoute['doc']>, 'endpointFor'> {
  readonly endpointFor: (current: { readonly gateway: Listed }) => Endpoint;
}

/** Sources of the model list. */
interface ModelSource {
  /** Listings of the protocols: the first whose `matches(headers)` is true answers, else `plain`. */
  readonly listings: readonly ClientModels[];
  /** Listing for other clients, and for faults before the request is read. */
  readonly plain: ClientModels;
  /** Start of the service in milliseconds since 1970, reported as every model's creation time. */
  readonly startedAtMs: number;
}

/**
 * `GET /v1/models` and `/v1/models/{id}`: all model names, in the shape of the client's protocol, chosen by request headers. An
 * id with slashes may be percent-encoded.
 */
export const modelListPaths = (source: ModelSource): readonly ModelListPath[] => {
  const list = endpointFor(source, (models, listing, { query }) =>
    listing.encodeList(models, source.startedAtMs, new URLSearchParams(query)),
  );
  const one = endpointFor(source, (models, listing, _, id) => {
    const model = models.find((row) => row.id === id) ?? findByAlias(models, id) ?? noModel(id);
    return listing.encodeModel(model, source.startedAtMs);
  });
  return [
    { method: 'GET', path: '/v1/models', endpointFor: list, doc: async () => (await docs()).modelsDoc },
    { method: 'GET', path: '/v1/models/:id', endpointFor: one, doc: async () => (await docs()).modelDoc },
    { method: 'GET', path: '/v1/models/*', endpointFor: one },
  ];
};

const docs = () => import('../openapi/model-docs.ts');

type Answer = (models: readonly ClientModel[], listing: ClientModels, incoming: HttpRequest, id: string) => JsonObject;

const endpointFor =
  (source: ModelSource, answer: Answer) =>
  (current: { readonly gateway: Listed }): Endpoint => ({
    open: false,
    forClients: true,
    formatFault: source.plain.encodeFault,
    handle: (incoming, params) =>
      defer(() => {
        const listing = source.listings.find((row) => row.matches((name) => incoming.headers[name])) ?? source.plain;
        return of(
          reply(listing, incoming, () =>
            answer(namesFor(incoming, current.gateway, source), listing, incoming, params.id ?? params['*'] ?? ''),
          ),
        );
      }),
  });

/**
 * Lists the same aliases in all formats, so that a name found with one client program works in another. A client with a key of
 * its own gets what it may use.
 */
const namesFor = (
  { namedClient }: HttpRequest,
  { config, access, modelFacts }: Listed,
  { listings }: ModelSource,
): readonly ClientModel[] => {
  const aliasPrefix = listings.find((listing) => listing.aliasPrefix !== undefined)?.aliasPrefix ?? '';
  const allows = namedClient === undefined ? {} : { allows: accessOf(access, namedClient).allowsModel };
  return showReferencesIn(config.referred, modelNames(config, { aliasPrefix, factsOf: modelFacts, ...allows }));
};

/** Formats faults in the client's protocol; the endpoint's `formatFault` doesn't know the request's headers. */
const reply = (listing: ClientModels, { id }: HttpRequest, body: () => JsonObject): WholeReply => {
  try {
    return jsonReply(body());
  } catch (error) {
    const fault = faultOf(error);
    if (fault.kind === 'internal') throw error;
    const worded = listing.encodeFault(fault, id);
    return jsonReply(worded.body, worded.status);
  }
};

/** Finds a model by its alias with another prefix, or none. */
const findByAlias = (models: readonly ClientModel[], id: string): ClientModel | undefined => {
  const name = aliasName(id);
  return name === undefined ? undefined : models.find((row) => aliasName(row.id) === name);
};

const noModel = (id: string): never =>
  fail('not-found', `There is no model ${quoted(id)}; GET /v1/models lists what there is.`);
