import type { Protocol } from '../../api/protocols.ts';
import type { RequestSummary } from '../../api/requests.ts';

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
export type StatusClass = 'well' | 'failed' | 'left' | 'lossy';

/** Labels of the outcomes. */
export const statusTitles: Readonly<Record<StatusClass, string>> = {
  well: 'Succeeded',
  failed: 'Failed',
  left: 'Client disconnected',
  lossy: 'With losses',
};

/** Matches everything. */
export const noFilter: RequestFilter = { protocol: '', provider: '', status: '', scenario: '', client: '', text: '' };

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

const isOf = ({ status, losses }: RequestSummary, wanted: StatusClass): boolean => {
  if (wanted === 'lossy') return losses.length > 0;
  if (wanted === 'left') return status === 499;
  return wanted === 'well' ? status < 400 : status >= 400 && status !== 499;
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
