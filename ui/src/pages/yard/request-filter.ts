import type { Protocol } from '../../api/protocols.ts';
import type { RequestSummary } from '../../api/requests.ts';

/** What the list of requests is narrowed down to; an empty value admits all. */
export interface RequestFilter {
  readonly protocol: Protocol | '';
  readonly provider: string;
  readonly status: StatusClass | '';
  readonly scenario: string;
  /** Found in any of a request's names. */
  readonly text: string;
}

/** How a request ended. */
export type StatusClass = 'well' | 'failed' | 'left' | 'lossy';

/** In words. */
export const statusTitles: Readonly<Record<StatusClass, string>> = {
  well: 'Answered',
  failed: 'Failed',
  left: 'Client left',
  lossy: 'With losses',
};

/** Nothing is left out. */
export const noFilter: RequestFilter = { protocol: '', provider: '', status: '', scenario: '', text: '' };

/** Whether a request passes the filter. */
export const passes = (
  request: RequestSummary,
  { protocol, provider, status, scenario, text }: RequestFilter,
): boolean =>
  (protocol === '' || request.protocol === protocol) &&
  (provider === '' || request.provider === provider) &&
  (scenario === '' || request.scenario === scenario) &&
  (status === '' || isOf(request, status)) &&
  (text === '' || haystack(request).includes(text.trim().toLowerCase()));

const isOf = ({ status, losses }: RequestSummary, wanted: StatusClass): boolean => {
  if (wanted === 'lossy') return losses.length > 0;
  if (wanted === 'left') return status === 499;
  return wanted === 'well' ? status < 400 : status >= 400 && status !== 499;
};

const haystack = ({
  id,
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
  [id, path, asked, preset, scenario, reason, provider, model, status, fault?.kind, fault?.message]
    .join(' ')
    .toLowerCase();
