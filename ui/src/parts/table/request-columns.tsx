import { shortProtocolTitles } from '../../api/protocols.ts';
import type { RequestSummary } from '../../api/requests/requests.ts';
import { duration } from '../../format/duration.ts';
import { tokens } from '../../format/tokens.ts';
import { usd } from '../../format/usd.ts';
import { Badge } from '../text/badge.tsx';
import { DestinationName } from '../text/destination-name.tsx';
import { FaultReason } from '../text/fault-reason.tsx';
import type { Column } from './data-table.tsx';
import './request-columns.css';
import { StatusBadge } from '../text/status-badge.tsx';
import { WholeNames } from '../text/whole-names.tsx';

const protocolOf = ({ protocol, preset }: RequestSummary): string =>
  [shortProtocolTitles[protocol], ...(preset === undefined ? [] : [preset])].join(' · ');

const protocolColumn: Column<RequestSummary> = {
  name: 'protocol',
  title: 'Protocol',
  cell: (request) => <span className="data-name">{protocolOf(request)}</span>,
};

/** In the place of the protocol's column if there are clients with keys of their own. */
const clientColumn: Column<RequestSummary> = {
  name: 'client',
  title: 'Client',
  about: 'The client whose own key the request carried, and its protocol',
  cell: (request) => (
    <span className="data-name" title={request.client}>
      <WholeNames text={request.client ?? '–'} /> <span className="request-asked soft">{protocolOf(request)}</span>
    </span>
  ),
};

/** The columns of this list of requests. `showTime` formats when they began. */
export const columnsFor = (
  requests: readonly RequestSummary[],
  showTime: (at: number) => string,
): readonly Column<RequestSummary>[] => [
  {
    name: 'time',
    title: 'Time',
    cell: ({ startedAt, captured }) => <RequestTime text={showTime(startedAt)} captured={captured} />,
  },
  requests.some(({ client }) => client !== undefined) ? clientColumn : protocolColumn,
  ...requestColumns,
];

/** A day and time, with a dot at its last word if the request is recorded. */
export const RequestTime = ({ text, captured = false }: { readonly text: string; readonly captured?: boolean }) => {
  const last = text.lastIndexOf(' ') + 1;
  return (
    <span className="request-time" title={captured ? 'Recorded: a trace is available' : undefined}>
      {last > 0 && <span>{text.slice(0, last - 1)}</span>}{' '}
      <span className={captured ? 'request-recorded' : undefined}>{text.slice(last)}</span>
      {captured && <span className="unseen"> (recorded)</span>}
    </span>
  );
};

const requestColumns: readonly Column<RequestSummary>[] = [
  {
    name: 'scenario',
    title: 'Scenario',
    about: 'The rule that matched; hover to see why',
    cell: ({ scenario, reason, asked }) => (
      <span className="data-name" title={[asked, reason].filter(Boolean).join(': ')}>
        {scenario ?? '–'} <span className="request-asked soft">{asked}</span>
      </span>
    ),
  },
  {
    name: 'to',
    title: 'Provider, model',
    cell: ({ provider, model, failedAttempts }) => (
      <>
        {provider === undefined ? '–' : <DestinationName provider={provider} model={model} />}
        {failedAttempts && <Badge title="Calls made">{failedAttempts.length + 1} calls</Badge>}
      </>
    ),
  },
  {
    name: 'status',
    title: 'Status',
    cell: ({ status, fault }) => (
      <>
        <StatusBadge status={status} title={fault?.message} />
        {fault && status < 400 && (
          <Badge tone="bad" title={fault.message}>
            broke off
          </Badge>
        )}
        {fault && <FaultReason message={fault.message} />}
      </>
    ),
  },
  {
    name: 'tokens',
    title: 'Tokens',
    about: 'Input (of which cached) → output',
    numeric: true,
    cell: ({ usage }) => (usage ? tokens(usage) : '–'),
  },
  {
    name: 'cost',
    title: 'Cost',
    about: 'At the prices that are known; –: unknown',
    numeric: true,
    cell: ({ cost }) => (cost === undefined ? '–' : usd(cost)),
  },
  { name: 'first', title: 'First byte', numeric: true, cell: ({ firstByteMs }) => maybe(firstByteMs) },
  { name: 'duration', title: 'Duration', numeric: true, cell: ({ durationMs }) => duration(durationMs) },
  {
    name: 'overhead',
    title: 'Gateway',
    about: 'Gateway overhead',
    numeric: true,
    cell: ({ overheadMs }) => maybe(overheadMs),
  },
  {
    name: 'losses',
    title: 'Losses',
    about: 'Fields lost in conversion',
    numeric: true,
    cell: ({ losses }) =>
      losses.length === 0 ? (
        '–'
      ) : (
        <Badge tone="warn" title={losses.map(({ field, action }) => `${field} ${action}`).join('\n')}>
          {losses.length}
        </Badge>
      ),
  },
];

const maybe = (ms: number | undefined): string => (ms === undefined ? '–' : duration(ms));
