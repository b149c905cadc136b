import type { AddedClient, ClientList } from '../../../admin/schema.ts';
import { call } from './call.ts';
import type { Outcome } from './config/config.ts';
import type { JsonObject } from './json.ts';

/** A client with a key of its own: its limits and what it used. */
export type Client = ClientList['clients'][number];

/** All clients with keys of their own, and whether requests need a key. */
export const listClients = (signal?: AbortSignal): Promise<ClientList> => call('/api/clients', { signal });

/** Adds a client, whose key only this answer has. The members are those of an element of `CLIENTS`, without the key. */
export const addClient = (client: JsonObject): Promise<AddedClient> =>
  call('/api/clients', { method: 'POST', body: client });

/** Changes what a client may use: a member takes the place of the one before, `null` removes it. */
export const changeClient = (name: string, changes: JsonObject): Promise<Outcome> =>
  call(`/api/clients/${encodeURIComponent(name)}`, { method: 'PATCH', body: changes });

/** Removes a client, whose key is refused from then on. */
export const revokeClient = (name: string): Promise<Outcome> =>
  call(`/api/clients/${encodeURIComponent(name)}`, { method: 'DELETE' });
