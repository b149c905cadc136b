import { useState } from 'react';
import { wordError } from '../../api/api-error.ts';
import { type Client, listClients, revokeClient } from '../../api/clients.ts';
import { reloadChangedConfig } from '../../api/config/config-store.ts';
import { useLoad } from '../../api/use-load.ts';
import { count, counted, shortCount } from '../../format/count.ts';
import { dayAndTime } from '../../format/time.ts';
import { usd } from '../../format/usd.ts';
import { Button } from '../../parts/controls/button.tsx';
import { Empty } from '../../parts/layout/empty.tsx';
import { LoadFailed } from '../../parts/layout/load-failed.tsx';
import { Loading } from '../../parts/layout/loading.tsx';
import { Notice } from '../../parts/layout/notice.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { DataTable } from '../../parts/table/data-table.tsx';
import { confirm } from '../../shell/dialogs/confirm.ts';
import { toast } from '../../shell/toast.ts';
import { AddClient } from './add-client.tsx';

/** How often use is read anew, in milliseconds. */
const readMs = 5_000;

/** Clients with keys of their own: limits and use. Adding and revoking apply at once. */
export const Clients = () => {
  const { data, error, reload } = useLoad(listClients, readMs);
  const [adding, setAdding] = useState(false);
  return (
    <Panel
      flush
      title="Clients"
      about="Keys of their own for teams and programs, for the model routes only. Changes apply at once."
      actions={
        <Button icon="add" onClick={() => setAdding(true)}>
          Add a client
        </Button>
      }
    >
      {error !== undefined && <LoadFailed what="the clients" error={error} onRetry={reload} />}
      {!data && error === undefined && <Loading what="clients" />}
      {data && data.keyRefusals > 0 && (
        <Notice kind="warn">
          {counted(data.keyRefusals, 'request')} without a valid key refused since the gateway started. Each tool needs
          the key of a client, or the gateway’s own.
        </Notice>
      )}
      {data && (
        <DataTable
          label="Clients"
          rows={data.clients}
          rowKey={({ name }) => name}
          empty={
            <Empty title="No clients yet">
              {data.isKeyNeeded
                ? 'All programs use the key of this gateway (APIKEY).'
                : 'Requests need no key. The first client changes that for all programs.'}
            </Empty>
          }
          columns={[
            { name: 'name', title: 'Name', cell: ({ name }) => <span className="mono data-whole">{name}</span> },
            {
              name: 'uses',
              title: 'May use',
              cell: (client) => <span className="data-whole">{allowedText(client)}</span>,
            },
            { name: 'limits', title: 'Limits', cell: (client) => <Lines texts={limitTexts(client)} none="none" /> },
            { name: 'today', title: 'Today', numeric: true, cell: ({ usage }) => <Use {...usage.today} /> },
            { name: 'month', title: 'This month', numeric: true, cell: ({ usage }) => <Use {...usage.month} /> },
            {
              name: 'actions',
              title: 'Actions',
              cell: ({ name }) => (
                <Button onClick={() => void revoke(name, data.clients.length === 1).then((done) => done && reload())}>
                  Revoke<span className="unseen"> {name}</span>
                </Button>
              ),
            },
          ]}
        />
      )}
      {adding && (
        <AddClient endsKeylessUse={data?.isKeyNeeded === false} onAdded={reload} onClose={() => setAdding(false)} />
      )}
    </Panel>
  );
};

const allowedText = ({ models, routes }: Client): string =>
  [models ? models.join(' ') : 'all models', ...(routes ? [`routes ${routes.join(' ')}`] : [])].join('; ');

const limitTitles = {
  requestsPerMinute: 'requests per minute',
  tokensPerMinute: 'tokens per minute',
  streams: 'answers at a time',
} as const satisfies Record<Client['limits'][number]['limit'], string>;

const limitTexts = ({ limits, budget, unpricedModels = [] }: Client): readonly string[] => [
  ...limits.map(({ limit, most, remaining }) => `${count(remaining)} of ${count(most)} ${limitTitles[limit]} left`),
  ...(budget ? budgetTexts(budget) : []),
  ...(unpricedModels.length > 0 ? [`no price is known of ${unpricedModels.join('; ')}: not in the budget in USD`] : []),
];

const budgetTexts = (budget: NonNullable<Client['budget']>): readonly string[] => {
  const { tokens, remaining = 0, usd: most, remainingUsd = 0, per, renewsAt } = budget;
  const until = `until ${dayAndTime(renewsAt)}`;
  const line = (left: number, texts: string): string =>
    left > 0 ? `${texts} left, ${until}` : `used up ${until}: ${texts} left`;
  return [
    ...(tokens === undefined ? [] : [line(remaining, `${count(remaining)} of ${count(tokens)} tokens per ${per}`)]),
    ...(most === undefined
      ? []
      : [line(remainingUsd, `${usd(remainingUsd * nanoPerUsd)} of ${usd(most * nanoPerUsd)} per ${per}`)]),
  ];
};

const nanoPerUsd = 1e9;

const Lines = ({ texts, none }: { readonly texts: readonly string[]; readonly none: string }) =>
  texts.length === 0 ? (
    none
  ) : (
    <ul className="client-limits">
      {texts.map((text) => (
        <li key={text}>{text}</li>
      ))}
    </ul>
  );

const Use = ({ requests, input, output, cost, unpriced }: Client['usage']['today']) =>
  [counted(requests, 'request'), `${shortCount(input + output)} tokens`, `${unpriced > 0 ? '≥ ' : ''}${usd(cost)}`].map(
    (text) => <div key={text}>{text}</div>,
  );

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
