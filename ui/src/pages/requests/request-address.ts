import { href, route } from '../../router/route.ts';
import { filterNames } from './request-filter.ts';

/** What an address of the list keeps, whatever is open. */
const kept = [...filterNames, 'group', 'single', 'sort'];

/** The query of the list that is shown, with changes; an empty text removes a member. */
const listQuery = (changes: Readonly<Record<string, string>>): URLSearchParams => {
  const { segments, query } = route.get();
  const next = new URLSearchParams();
  for (const name of segments[0] === 'requests' ? kept : []) {
    const value = query.get(name);
    if (value) next.set(name, value);
  }
  for (const [name, value] of Object.entries(changes)) {
    if (value === '') next.delete(name);
    else next.set(name, value);
  }
  return next;
};

const withQuery = (address: string, query: URLSearchParams): string =>
  query.size > 0 ? `${address}?${query}` : address;

/** The address of the list, with its filters, and nothing open. */
export const listAddress = (changes: Readonly<Record<string, string>> = {}): string =>
  withQuery(href('/requests'), listQuery(changes));

/**
 * The address of an open request; the list beside it keeps its filters, and the request its tab. `endedAt`: when it ended; finds a
 * request on disk without a scan of the history. `was`: the request that it tries again.
 */
export const requestAddress = ({
  id,
  endedAt,
  was = '',
}: {
  readonly id: string;
  readonly endedAt?: number;
  readonly was?: string;
}): string => {
  const { segments, query } = route.get();
  const tab = (segments[0] === 'requests' && query.get('tab')) || '';
  const ended = endedAt === undefined ? '' : String(endedAt);
  return withQuery(href('/requests', id), listQuery({ group: '', single: '', ended, tab, was }));
};
