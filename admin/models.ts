import { defer, of } from 'rxjs';
import type { Config } from '../engine/config/config.ts';
import type { Endpoint } from '../engine/http/endpoint.ts';
import type { Incoming } from '../engine/http/incoming.ts';
import { fail, faultOf } from '../engine/model/fault.ts';
import type { JsonObject } from '../engine/model/json.ts';
import type { ListedModel, ModelListing } from '../engine/model/model-listing.ts';
import type { WholeReply } from '../engine/reply-part.ts';
import { listedModels } from '../engine/routing/listed-models.ts';
import { jsonReply } from './json-reply.ts';
import { modelDoc, modelsDoc } from './model-docs.ts';
import type { DocumentedRow } from './operation-doc.ts';

/** What the list of models is made from. */
export interface ModelSource {
  /** The configuration as it is at the moment of asking. */
  readonly config: () => Config;
  /** The protocols' ways of listing; the first one that takes itself to be asked answers, else `plain`. */
  readonly listings: readonly ModelListing[];
  /** For all other clients, and for faults that come before a request is read. */
  readonly plain: ModelListing;
  /** When the service started, in milliseconds since 1970: what a model's age is given as. */
  readonly startedAtMs: number;
}

/**
 * `GET /v1/models` and `/v1/models/{id}`: every name that a client may ask for, in the shape of the protocol that the request's
 * head shows. An id with slashes may come encoded or not.
 */
export const modelRows = (source: ModelSource): readonly DocumentedRow[] => {
  const list = endpoint(source, (models, listing, { query }) =>
    listing.encodeList(models, source.startedAtMs, new URLSearchParams(query)),
  );
  const one = endpoint(source, (models, listing, _, id) => {
    const model = models.find((row) => row.id === id) ?? noModel(id);
    return listing.encodeModel(model, source.startedAtMs);
  });
  return [
    { method: 'GET', path: '/v1/models', endpoint: list, doc: modelsDoc },
    { method: 'GET', path: '/v1/models/:id', endpoint: one, doc: modelDoc },
    { method: 'GET', path: '/v1/models/*', endpoint: one },
  ];
};

type Answer = (models: readonly ListedModel[], listing: ModelListing, incoming: Incoming, id: string) => JsonObject;

const endpoint = (source: ModelSource, answer: Answer): Endpoint => ({
  open: false,
  wordFault: source.plain.encodeFault,
  handle: (incoming, params) =>
    defer(() => {
      const listing = source.listings.find((row) => row.isAsked((name) => incoming.headers[name])) ?? source.plain;
      return of(reply(listing, incoming, () => answer(all(source), listing, incoming, params.id ?? params['*'] ?? '')));
    }),
});

/** Aliases are the same for all clients, so that a name found through one client serves in another. */
const all = ({ config, listings }: ModelSource): readonly ListedModel[] =>
  listedModels(config(), listings.find(({ aliasPrefix }) => aliasPrefix !== undefined)?.aliasPrefix ?? '');

/** The endpoint's own wording can't know which of the shapes the client reads. */
const reply = (listing: ModelListing, { id }: Incoming, body: () => JsonObject): WholeReply => {
  try {
    return jsonReply(body());
  } catch (error) {
    const fault = faultOf(error);
    if (fault.kind === 'internal') throw error;
    const worded = listing.encodeFault(fault, id);
    return jsonReply(worded.body, worded.status);
  }
};

const noModel = (id: string): never =>
  fail('not-found', `There is no model ${JSON.stringify(id.slice(0, 100))}; GET /v1/models lists what there is.`);
