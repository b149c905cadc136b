import { useCallback, useMemo, useState } from 'react';
import { wordError } from '../../api/api-error.ts';
import { type Client, type listClients, revokeClient } from '../../api/clients.ts';
import type { ConfigFile } from '../../api/config/config-file.ts';
import { reloadChangedConfig } from '../../api/config/config-store.ts';
import { readUsage } from '../../api/usage.ts';
import { useLoad } from '../../api/use-load.ts';
import { useForm } from '../../config/fields/form.ts';
import { count, counted, dayAndTime, shortCount, timeOfDay, usd } from '../../format/figures.ts';
import { IconButton } from '../../parts/controls/button.tsx';
import { Empty, Notice } from '../../parts/layout/notice.tsx';
import { type Column, DataTable } from '../../parts/table/data-table.tsx';
import { href } from '../../router/route.ts';
import { confirm } from '../../state/confirm.ts';
import { toast } from '../../state/toast.ts';
import { atLeast } from '../usage/usage-view.ts';
import { EditClient } from './edit-client.tsx';
import { usedUpAt } from './forecast.ts';

/** Days in which the first and the last use are looked for: any month. */
const lookedDays = 31;

/** How often they are, in milliseconds. */
const lookedMs = 60_000;

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
    lookedMs,
  );
  // Rows are in the order of time: the last one stays.
  const [lastUse, firstUse] = useMemo(() => {
    const used = (days.data?.rows ?? []).map(({ name, from }) => [name, from] as const);
    return [new Map(used), new Map(used.toReversed())];
  }, [days.data]);
  const { config } = useForm();
  const [edited, setEdited] = useState<string>();
  const written = edited === undefined ? undefined : writtenClient(config, edited);
  const columns: readonly Column<Client>[] = [
    { name: 'name', title: 'Name', width: '9rem', cell: ({ name }) => <span title={name}>{name}</span> },
    {
      name: 'last',
      title: 'Last use',
      width: '6.5rem',
      cell: ({ name, usage }) => lastUseText(usage.today.requests, lastUse.get(name), days.data !== undefined),
    },
    {
      name: 'today',
      title: 'Today',
      width: '8.5rem',
      numeric: true,
      cell: ({ usage }) => <Spent used={usage.today} />,
    },
    {
      name: 'month',
      title: 'This month',
      width: '8.5rem',
      numeric: true,
      cell: ({ usage }) => <Spent used={usage.month} />,
    },
    {
      name: 'budget',
      title: 'Budget left',
      width: '15.5rem',
      cell: (client) => <Budget client={client} firstUse={firstUse.get(client.name)} />,
    },
    {
      name: 'limits',
      title: 'Limits',
      about: 'What is left of each, and what it may use',
      cell: (client) => <span title={limitsText(client)}>{limitsText(client)}</span>,
    },
    {
      name: 'actions',
      title: '',
      width: '5rem',
      numeric: true,
      cell: ({ name }) => (
        <>
          <IconButton icon="edit" label={`Edit ${name}`} onClick={() => setEdited(name)} />
          <IconButton
            icon="remove"
            label={`Revoke ${name}`}
            onClick={() => void revoke(name, data.clients.length === 1).then((done) => done && reload())}
          />
        </>
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
      <DataTable
        lines
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

const Spent = ({ used: { requests, input, output, cost, unpriced } }: { readonly used: Client['usage']['today'] }) =>
  requests === 0 ? (
    '–'
  ) : (
    <span title={`${count(input + output)} tokens`}>
      {counted(requests, 'request')} · {atLeast(cost, unpriced, usd)}
    </span>
  );

const nanoPerUsd = 1e9;

/** How much of a budget is used, as a bar, what is left of its scarcer part, and when that ends at the rate so far. */
const Budget = ({
  client: { name, budget, unpricedModels = [] },
  firstUse,
}: {
  readonly client: Client;
  /** Its first day of use that is known. */
  readonly firstUse: string | null | undefined;
}) => {
  if (!budget) return 'none';
  const { tokens, remaining = 0, usd: most, remainingUsd = 0, per, renewsAt, isUsedUp } = budget;
  const dollars = (value: number): string => usd(value * nanoPerUsd);
  const [scarce, ...others] = [
    ...(most === undefined
      ? []
      : [{ left: remainingUsd / most, text: `${dollars(remainingUsd)} of ${dollars(most)}` }]),
    ...(tokens === undefined
      ? []
      : [{ left: remaining / tokens, text: `${shortCount(remaining)} of ${shortCount(tokens)} tokens` }]),
  ].toSorted((one, other) => one.left - other.left);
  const used = 1 - (scarce?.left ?? 1);
  const endMs = firstUse ? usedUpAt(budget, used, Date.parse(firstUse), Date.now()) : undefined;
  const end = endMs === undefined ? `per ${per}` : `until ${per === 'day' ? timeOfDay(endMs) : day.format(endMs)}`;
  const text = `${isUsedUp ? 'used up: ' : ''}${scarce?.text} ${end}`;
  const about = [
    ...(endMs === undefined ? [] : [`Per ${per}: at the rate so far, used up ${dayAndTime(endMs)}.`]),
    ...others.map((other) => `Also ${other.text}.`),
    `Renewed ${dayAndTime(renewsAt)}.`,
    ...(unpricedModels.length > 0
      ? [`No price is known of ${unpricedModels.join('; ')}: not in the budget in USD.`]
      : []),
  ];
  return (
    <span className="budget" title={[text, ...about].join('\n')}>
      <meter aria-label={`Budget of ${name}`} min={0} max={1} high={0.9} optimum={0} value={used} />
      {text}
    </span>
  );
};

const limitTitles = {
  requestsPerMinute: 'requests/min',
  tokensPerMinute: 'tokens/min',
  streams: 'answers at once',
} as const satisfies Record<Client['limits'][number]['limit'], string>;

const limitsText = ({ limits, models, routes, expires, isExpired }: Client): string =>
  [
    ...limits.map(
      ({ limit, most, remaining }) => `${shortCount(remaining)} of ${shortCount(most)} ${limitTitles[limit]}`,
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
