import { shortProtocolTitles } from '../../api/protocols.ts';
import type { InFlight } from '../../api/requests/activity.ts';
import { endOf, hasFailed, type RequestSummary } from '../../api/requests/summary.ts';
import { duration, listTime, tokens, usd } from '../../format/figures.ts';
import type { Column } from '../../parts/table/data-table.tsx';
import { Dot, type Tone } from '../../parts/text/badge.tsx';
import { toneOfStatus } from '../../parts/text/status-badge.tsx';
import type { ListedRequest } from './use-requests.ts';

/** A row of the list: a request that has ended, or one that runs. */
export type RequestRow =
  | { readonly type: 'ended'; readonly request: ListedRequest }
  | { readonly type: 'running'; readonly request: InFlight };

/** The state of a request as a dot. */
export const toneOf = (request: RequestSummary): Tone => {
  const broke = request.status < 400 && hasFailed(request);
  return broke ? 'bad' : toneOfStatus(request.status);
};

/** The state of a request in a word. */
export const stateOf = (request: RequestSummary): string => {
  if (request.status === 499) return 'The client disconnected';
  if (!hasFailed(request)) return String(request.status);
  return request.status < 400 ? `${request.status}, broke off` : String(request.status);
};

const phases: Readonly<Record<InFlight['phase'], string>> = {
  deciding: 'routing…',
  waiting: 'waiting for the provider…',
  streaming: 'streaming…',
};

/** The client, or the protocol where its name isn't known. */
const clientOf = ({ client, protocol }: Pick<RequestSummary, 'client' | 'protocol'>): string =>
  client === undefined ? shortProtocolTitles[protocol] : `${client} · ${shortProtocolTitles[protocol]}`;

/** What tells a request from others: why it failed, the words of its last turn, the tools whose results it brings, or who sent it. */
export const Title = ({ request }: { readonly request: RequestSummary }) => {
  const { fault, title, tools, turns } = request;
  if (hasFailed(request)) {
    return (
      <span className="request-title">
        <span className="request-failed cut" title={fault?.message}>
          <bdi>{fault?.message ?? `Status ${request.status}`}</bdi>
        </span>
        {title !== undefined && (
          <span className="soft cut">
            <bdi>{title}</bdi>
          </span>
        )}
      </span>
    );
  }
  // What turns the direction of text in a title ends with it.
  if (title !== undefined) return <bdi>{title}</bdi>;
  const words = tools?.length ? `tool result: ${tools.join(', ')}` : turns !== undefined && `turn ${turns}`;
  return <span className="soft">{[clientOf(request), words].filter(Boolean).join(' · ')}</span>;
};

/** The model asked for, and the one that answered, if it is another one. */
const ModelNames = ({ asked, provider, model }: Pick<RequestSummary, 'asked' | 'provider' | 'model'>) => {
  if (provider === undefined || model === undefined) return asked || '–';
  const isSame = asked === model || asked === `${provider},${model}` || asked === `${provider}/${model}`;
  return (
    <span title={`${asked} ▸ ${provider},${model}`}>
      {!isSame && <span className="soft">{asked} ▸ </span>}
      <span className="soft">{provider},</span>
      {model}
    </span>
  );
};

/** The columns of the list. */
export const requestColumns: readonly Column<RequestRow>[] = [
  {
    name: 'time',
    title: 'Time',
    about: 'When it ended; of those in flight, when it began',
    width: '6.75rem',
    cell: (row) => listTime(row.type === 'ended' ? endOf(row.request) : row.request.startedAt),
  },
  {
    name: 'state',
    title: '',
    width: '1.5rem',
    cell: (row) =>
      row.type === 'running' ? (
        <Dot tone="accent" pulse title="In flight" />
      ) : (
        <Dot tone={toneOf(row.request)} title={stateOf(row.request)} />
      ),
  },
  {
    name: 'title',
    title: 'Request',
    isLink: true,
    cell: (row) =>
      row.type === 'running' ? (
        <span className="soft">{`${clientOf(row.request)} · ${phases[row.request.phase]}`}</span>
      ) : (
        <Title request={row.request} />
      ),
  },
  { name: 'model', title: 'Model', width: '24%', cell: ({ request }) => <ModelNames {...request} /> },
  {
    name: 'tokens',
    title: 'Tokens',
    sorts: true,
    about: 'Input (of which cached) → output',
    width: '7.5rem',
    numeric: true,
    wideOnly: true,
    cell: (row) => (row.type === 'ended' && row.request.usage ? tokens(row.request.usage) : '–'),
  },
  {
    name: 'cost',
    title: 'Cost',
    sorts: true,
    about: 'At the prices that are known; –: unknown',
    width: '5.5rem',
    numeric: true,
    wideOnly: true,
    cell: (row) => (row.type === 'ended' && row.request.cost !== undefined ? usd(row.request.cost) : '–'),
  },
  {
    name: 'firstByte',
    title: 'First byte',
    sorts: true,
    about: 'From the arrival of the request to the first byte of its answer',
    width: '5.5rem',
    numeric: true,
    wideOnly: true,
    cell: (row) =>
      row.type === 'ended' && row.request.firstByteMs !== undefined ? duration(row.request.firstByteMs) : '–',
  },
  {
    name: 'duration',
    title: 'Duration',
    sorts: true,
    width: '5rem',
    numeric: true,
    cell: (row) => (row.type === 'ended' ? duration(row.request.durationMs) : '…'),
  },
];
