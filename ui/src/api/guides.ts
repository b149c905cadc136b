import type { ClientGuides } from '../../../admin/schema.ts';
import { call } from './call.ts';

/** Guide for directing one client program to the gateway. */
export type ClientGuide = ClientGuides['guides'][number];

/** Inputs of the texts to copy. */
interface GuideQuery {
  /** The address by which the programs reach the gateway. */
  readonly base: string;
  /** Absent: the gateway's choice. */
  readonly model?: string;
  readonly shell: string;
  /** Whether they need a key. */
  readonly key: boolean;
}

/** Guides for directing client programs to the gateway. */
export const readGuides = (query: GuideQuery, signal?: AbortSignal): Promise<ClientGuides> =>
  call('/api/clients/guides', { query: { ...query, key: String(query.key) }, signal });
