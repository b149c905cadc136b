import type { ClientGuides } from '../../../admin/schema.ts';
import { call } from './call.ts';

/** How to direct one client program to the gateway. */
export type ClientGuide = ClientGuides['guides'][number];

/** What the texts to copy depend on. */
interface GuideQuery {
  /** The address by which the programs reach the gateway. */
  readonly base: string;
  /** Absent: the gateway's choice. */
  readonly model?: string;
  readonly shell: string;
  /** Whether they need a key. */
  readonly key: boolean;
}

/** How client programs are directed to the gateway. */
export const readGuides = (query: GuideQuery, signal?: AbortSignal): Promise<ClientGuides> =>
  call('/api/clients/guides', { query: { ...query, key: String(query.key) }, signal });
