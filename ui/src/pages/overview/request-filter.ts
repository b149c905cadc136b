import { type Protocol, protocols } from '../../api/protocols.ts';
import { hasFailed, type RequestSummary } from '../../api/requests/requests.ts';

/** The filters of the request list; an empty value matches everything. */
export interface RequestFilter {
  readonly protocol: Protocol | '';
  readonly provider: string;
  readonly status: StatusClass | '';
  readonly scenario: string;
  /** The name of a client with a key of its own. */
  readonly client: string;
  /** Text in any searched field. */
  readonly text: string;
}

/** The outcome of a request. */
type StatusClass = 'well' | 'failed' | 'left' | 'lossy';

/** Labels of the outcomes. */
export const statusTitles: Readonly<Record<StatusClass, string>> = {
  well: 'Succeeded',
  failed: 'Failed',
  left: 'Client disconnected',
  lossy: 'With losses',
};

/** Matches everything. */
export const noFilter: RequestFilter = { protocol: '', provider: '', status: '', scenario: '', client: '', text: '' };

/** The outcomes, in display order. */
export const statuses: readonly StatusClass[] = ['well', 'failed', 'left', 'lossy'];

/** What each filter is called in the page's address; `client` is taken there. */
const names = {
  protocol: 'protocol',
  provider: 'provider',
  status: 'outcome',
  scenario: 'scenario',
  client: 'key',
  text: 'search',
} as const satisfies Record<keyof RequestFilter, string>;

/** The filters in an address. */
export const filterIn = (query: URLSearchParams): RequestFilter => {
  const at = (name: keyof RequestFilter): string => query.get(names[name]) ?? '';
  return {
    protocol: protocols.find((one) => one === at('protocol')) ?? '',
    provider: at('provider'),
    status: statuses.find((one) => one === at('status')) ?? '',
    scenario: at('scenario'),
    client: at('client'),
    text: at('text'),
  };
};

/** The filters as parts of an address. */
export const filterQuery = (filter: RequestFilter): Readonly<Record<string, string>> => ({
  [names.protocol]: filter.protocol,
  [names.provider]: filter.provider,
  [names.status]: filter.status,
  [names.scenario]: filter.scenario,
  [names.client]: filter.client,
  [names.text]: filter.text,
});

/** Whether a request matches the filters. */
export const passes = (
  request: RequestSummary,
  { protocol, provider, status, scenario, client, text }: RequestFilter,
): boolean =>
  (protocol === '' || request.protocol === protocol) &&
  (provider === '' || request.provider === provider) &&
  (scenario === '' || request.scenario === scenario) &&
  (client === '' || request.client === client) &&
  (status === '' || isOf(request, status)) &&
  (text === '' || haystack(request).includes(text.trim().toLowerCase()));

const isOf = (request: RequestSummary, wanted: StatusClass): boolean => {
  if (wanted === 'lossy') return request.losses.length > 0;
  if (wanted === 'left') return request.status === 499;
  return hasFailed(request) ? wanted === 'failed' : wanted === 'well' && request.status !== 499;
};

const haystack = ({
  id,
  client,
  path,
  asked,
  preset,
  scenario,
  reason,
  provider,
  model,
  status,
  fault,
}: RequestSummary): string =>
  [id, client, path, asked, preset, scenario, reason, provider, model, status, fault?.kind, fault?.message]
    .join(' ')
    .toLowerCase();
