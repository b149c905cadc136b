import { useEffect, useRef, useState } from 'react';
import { isAbort, wordError } from '../../api/api-error.ts';
import { type KnownModel, lackTitles, readModelFacts, refreshModels } from '../../api/config/models.ts';
import { useLoad } from '../../api/use-load.ts';
import { count, counted, dayAndTime } from '../../format/figures.ts';
import { Button } from '../../parts/controls/button.tsx';
import { LoadFailed, Loading } from '../../parts/layout/notice.tsx';
import { type Column, DataTable } from '../../parts/table/data-table.tsx';

/** What is known of a saved provider's models, and a button that asks the provider for its list. */
export const ModelFacts = ({ provider }: { readonly provider: string }) => {
  const { data, error, reload } = useLoad(readModelFacts);
  const [busy, setBusy] = useState(false);
  const [said, setSaid] = useState('');
  const leaving = useRef<AbortController>(undefined);
  useEffect(() => () => leaving.current?.abort(), []);
  const known = data?.find((one) => one.provider === provider);
  if (error !== undefined) return <LoadFailed what="what is known of the models" error={error} onRetry={reload} />;
  if (!known) return data ? <p className="soft">Nothing is known yet.</p> : <Loading what="what is known" />;
  const refresh = async (): Promise<void> => {
    const own = new AbortController();
    leaving.current = own;
    setBusy(true);
    try {
      const { providers } = await refreshModels(provider, own.signal);
      setSaid(
        providers.map(({ models, problem }) => problem ?? `The provider lists ${counted(models, 'model')}.`).join(),
      );
      reload();
    } catch (error) {
      if (isAbort(error)) return;
      setSaid(wordError(error));
    }
    setBusy(false);
  };
  return (
    <section className="stack-tight" aria-label="Known of the models">
      <DataTable
        label="What is known of the models"
        columns={columns}
        rows={known.models}
        rowKey={({ model }) => model}
        empty={<p className="soft">There are no models.</p>}
      />
      <div className="row">
        <Button busy={busy} onClick={() => void refresh()}>
          Refresh
        </Button>
        <span className="soft small" role="status">
          {said || ages(known.listedAt, known.factsOf)}
        </span>
      </div>
    </section>
  );
};

const ages = (listedAt: string | null, factsOf: string | undefined): string =>
  [
    listedAt === null ? 'The provider has not been asked for its list.' : `Its list is of ${dayAndTime(listedAt)}.`,
    factsOf !== undefined && `Built-in facts are of ${factsOf}.`,
  ]
    .filter(Boolean)
    .join(' ');

/** Where a fact comes from, as a tooltip. */
const sources: Readonly<Record<NonNullable<KnownModel['from']['context']>, string>> = {
  configuration: 'From the configuration',
  list: 'From the provider’s list',
  package: 'Built in',
  prices: 'From the built-in table of prices',
};

const columns: readonly Column<KnownModel>[] = [
  { name: 'model', title: 'Model', cell: ({ model }) => model },
  {
    name: 'window',
    title: 'Window',
    about: 'Tokens',
    numeric: true,
    cell: ({ context, from }) => <Known value={context && count(context)} from={from.context} />,
  },
  {
    name: 'output',
    title: 'Output',
    about: 'Tokens that an answer may have',
    numeric: true,
    cell: ({ maxOutput, from }) => <Known value={maxOutput && count(maxOutput)} from={from.maxOutput} />,
  },
  {
    name: 'input',
    title: 'Takes',
    wideOnly: true,
    cell: ({ input, from }) => <Known value={input?.join(', ')} from={from.input} />,
  },
  {
    name: 'lacks',
    title: 'Lacks',
    about: 'Converted requests do without it',
    wideOnly: true,
    cell: ({ lacks, from }) => <Known value={lacks?.map((lack) => lackTitles[lack]).join(', ')} from={from.lacks} />,
  },
  {
    name: 'price',
    title: 'Price',
    about: 'USD per million tokens: prompt / answer',
    numeric: true,
    cell: ({ price, from }) => <Known value={price && `$${price.input} / $${price.output}`} from={from.price} />,
  },
  {
    name: 'retires',
    title: 'Retires',
    cell: ({ retires, status, from }) => <Known value={retires ?? status} from={from.retires} />,
  },
];

const Known = ({
  value,
  from,
}: {
  readonly value: string | 0 | undefined;
  readonly from: KnownModel['from']['context'];
}) => (value ? <span title={from && sources[from]}>{value}</span> : '–');
