import { href } from '../../router/route.ts';

/** The address of a request's page. `endedAt`: when it ended; finds a request on disk without a scan of the history. */
export const requestAddress = (
  { id, endedAt }: { readonly id: string; readonly endedAt?: number },
  tab: string | null = null,
): string => {
  const query = new URLSearchParams();
  if (endedAt !== undefined) query.set('ended', String(endedAt));
  if (tab !== null) query.set('tab', tab);
  return `${href('/requests', id)}${query.size > 0 ? `?${query}` : ''}`;
};
