import { useCallback, useMemo, useState } from 'react';
import { wordError } from '../../api/api-error.ts';
import { type Client, type listClients, revokeClient } from '../../api/clients.ts';
import type { ConfigFile } from '../../api/config/config-file.ts';
import { reloadChangedConfig } from '../../api/config/config-store.ts';
import { readUsage } from '../../api/usage.ts';
import { useLoad } from '../../api/use-load.ts';
import { useForm } from '../../config/fields/form.ts';
import { count, counted, shortCount } from '../../format/count.ts';
import { dayAndTime } from '../../format/time.ts';
import { usd } from '../../format/usd.ts';
import { Button } from '../../parts/controls/button.tsx';
import { Empty } from '../../parts/layout/empty.tsx';
import { Notice } from '../../parts/layout/notice.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { type Column, DataTable } from '../../parts/table/data-table.tsx';
import { href } from '../../router/route.ts';
import { confirm } from '../../state/confirm.ts';
import { toast } from '../../state/toast.ts';
import { EditClient } from './edit-client.tsx';

/** Days in which the last use is looked for. */
const lookedDays = 30;

/** How often it is, in milliseconds. */
const lastUseMs = 60_000;

/** All clients with their use, budgets and limits. */
export const ClientList = ({
  data,
  reload,
}: {
  readonly data: Awaited<ReturnType<typeof listClients>>;
  readonly reload: () => void;
}) => {
  const days = useLoad(
    useCallback(
      (signal: AbortSignal) =>
        readUsage(
          { from: `${lookedDays}d`, by: 'client', step: 'day', offset: -new Date().getTimezoneOffset() },
          signal,
        ),
      [],
    ),
    lastUseMs,
  );
  // Rows are in the order of time: the last one stays.
  const lastUse = useMemo(() => new Map((days.data?.rows ?? []).map(({ name, from }) => [name, from])), [days.data]);
  const { config } = useForm();
  const [edited, setEdited] = useState<string>();
  const written = edited === undefined ? undefined : writtenClient(config, edited);
  const columns: readonly Column<Client>[] = [
    { name: 'name', title: 'Name', cell: ({ name }) => <span className="mono data-whole">{name}</span> },
    {
      name: 'last',
      title: 'Last use',
      cell: ({ name, usage }) => lastUseText(usage.today.requests, lastUse.get(name), days.data !== undefined),
    },
    { name: 'today', title: 'Today', numeric: true, cell: ({ usage }) => spentText(usage.today) },
    { name: 'month', title: 'This month', numeric: true, cell: ({ usage }) => spentText(usage.month) },
    { name: 'budget', title: 'Budget', numeric: true, cell: (client) => <Budget client={client} /> },
    { name: 'limits', title: 'Limits', cell: (client) => <span className="data-whole">{limitsText(client)}</span> },
    {
      name: 'actions',
      title: '',
      cell: ({ name }) => (
        <div className="row">
          <Button onClick={() => setEdited(name)}>
            Edit<span className="unseen"> {name}</span>
          </Button>
          <Button onClick={() => void revoke(name, data.clients.length === 1).then((done) => done && reload())}>
            Revoke<span className="unseen"> {name}</span>
          </Button>
        </div>
      ),
    },
  ];
  return (
    <>
      {data.isKeyNeeded && data.keyRefusals > 0 && (
        <Notice kind="warn">
          {counted(data.keyRefusals, 'request')} without a valid key refused since the gateway started. Each tool needs
          the key of a client, or the gateway’s own.
        </Notice>
      )}
      <Panel flush title="Keys" about="One for each program or person, with its use, budget and limits.">
        <DataTable
          label="Clients"
          rows={data.clients}
          rowKey={({ name }) => name}
          open={({ name }) => `${href('/requests')}?${new URLSearchParams({ client: name, from: `${lookedDays}d` })}`}
          empty={
            <Empty title="No clients yet">
              {data.isKeyNeeded
                ? 'All programs use the key of this gateway (APIKEY).'
                : 'Requests need no key. The first client changes that for all programs.'}
            </Empty>
          }
          columns={columns}
        />
      </Panel>
      {written && <EditClient client={written} onChanged={reload} onClose={() => setEdited(undefined)} />}
    </>
  );
};

/** A client's element of `CLIENTS`. */
const writtenClient = ({ CLIENTS = [] }: ConfigFile, name: string) => {
  const found = CLIENTS.find((client) => client.name === name);
  return found && { ...found, name };
};

const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });

const lastUseText = (today: number, last: string | null | undefined, isKnown: boolean): string => {
  if (today > 0) return 'today';
  if (last) return day.format(Date.parse(last));
  return isKnown ? `not in ${lookedDays} days` : '–';
};

const spentText = ({ requests, input, output, cost, unpriced }: Client['usage']['today']): string =>
  requests === 0
    ? '–'
    : `${counted(requests, 'request')} · ${shortCount(input + output)} tokens · ${unpriced > 0 ? '≥ ' : ''}${usd(cost)}`;

const nanoPerUsd = 1e9;

/** The part of a budget that is used, as a bar, and what is left of it in words. */
const Budget = ({ client: { name, budget, unpricedModels = [] } }: { readonly client: Client }) => {
  if (!budget) return 'none';
  const { tokens, remaining = 0, usd: most, remainingUsd = 0, per, renewsAt, isUsedUp } = budget;
  const share = Math.max(
    most === undefined ? 0 : 1 - remainingUsd / most,
    tokens === undefined ? 0 : 1 - remaining / tokens,
  );
  const left = [
    ...(most === undefined ? [] : [`${usd(remainingUsd * nanoPerUsd)} of ${usd(most * nanoPerUsd)}`]),
    ...(tokens === undefined ? [] : [`${shortCount(remaining)} of ${shortCount(tokens)} tokens`]),
  ];
  return (
    <div
      className="budget"
      title={[
        ...(tokens === undefined ? [] : [`${count(remaining)} of ${count(tokens)} tokens are left.`]),
        `Renewed ${dayAndTime(renewsAt)}.`,
        ...(unpricedModels.length > 0
          ? [`No price is known of ${unpricedModels.join('; ')}: not in the budget in USD.`]
          : []),
      ].join(' ')}
    >
      <meter aria-label={`Budget of ${name}`} min={0} max={1} high={0.9} optimum={0} value={share} />
      {left.map((text) => (
        <span key={text} className="small">
          {isUsedUp && 'used up: '}
          {text} per {per} left
        </span>
      ))}
    </div>
  );
};

const limitTitles = {
  requestsPerMinute: 'requests per minute',
  tokensPerMinute: 'tokens per minute',
  streams: 'answers at a time',
} as const satisfies Record<Client['limits'][number]['limit'], string>;

const limitsText = ({ limits, models, routes, expires, isExpired }: Client): string =>
  [
    ...limits.map(
      ({ limit, most, remaining }) => `${shortCount(remaining)} of ${shortCount(most)} ${limitTitles[limit]} left`,
    ),
    ...(models ? [`models ${models.join(' ')}`] : []),
    ...(routes ? [`routes ${routes.join(' ')}`] : []),
    ...(expires === undefined ? [] : [`${isExpired ? 'expired' : 'expires'} ${dayAndTime(Date.parse(expires))}`]),
  ].join('; ') || 'none';

/** Whether the user confirmed and it worked. */
const revoke = async (name: string, isLast: boolean): Promise<boolean> => {
  const sure = await confirm({
    title: `Revoke the key of ${name}?`,
    text: `Its requests are refused from then on. Answers in progress end as usual. The key can’t be restored, only a backup of the configuration.${isLast ? ' It is the last client: without a key of the gateway (APIKEY), requests need no key any more.' : ''}`,
    yes: 'Revoke',
    danger: true,
  });
  if (!sure) return false;
  try {
    await revokeClient(name);
    await reloadChangedConfig();
    toast(`The key of ${name} was revoked.`);
    return true;
  } catch (error) {
    toast(wordError(error), 'failed');
    return false;
  }
};
