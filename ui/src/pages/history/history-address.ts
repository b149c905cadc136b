import type { HistoryQuery } from '../../api/requests/history.ts';
import { href } from '../../router/route.ts';

/** What can be searched for, named as in the page's address and in the query of `GET /api/history`. */
const filterNames = ['from', 'to', 'model', 'provider', 'status', 'client', 'session', 'text'] as const;

export type HistoryFilter = Readonly<Record<(typeof filterNames)[number], string>>;

/** Everything. */
export const noFilter: HistoryFilter = {
  from: '',
  to: '',
  model: '',
  provider: '',
  status: '',
  client: '',
  session: '',
  text: '',
};

/** The filter of an address; an empty text doesn't restrict. */
export const filterIn = (query: URLSearchParams): HistoryFilter => {
  const at = (name: keyof HistoryFilter): string => query.get(name) ?? '';
  return {
    from: at('from'),
    to: at('to'),
    model: at('model'),
    provider: at('provider'),
    status: at('status'),
    client: at('client'),
    session: at('session'),
    text: at('text'),
  };
};

/** The members that restrict. */
export const givenIn = (filter: HistoryFilter): HistoryQuery =>
  Object.fromEntries(filterNames.flatMap((name) => (filter[name].trim() === '' ? [] : [[name, filter[name].trim()]])));

/** The address of a page of requests. `before`: the `next` of the page before. */
export const historyAddress = (filter: HistoryFilter, before?: string): string => {
  const query = new URLSearchParams({ ...givenIn(filter), ...(before !== undefined && { before }) });
  return `${href('/requests')}${query.size > 0 ? `?${query}` : ''}`;
};
