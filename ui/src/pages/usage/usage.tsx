import { useCallback, useMemo, useState } from 'react';
import { wordError } from '../../api/api-error.ts';
import { priceSource, readModelFacts } from '../../api/config/models.ts';
import { readUsage, readUsageCsv, type UsageGroup } from '../../api/usage.ts';
import { useLoad } from '../../api/use-load.ts';
import { count, duration, usd } from '../../format/figures.ts';
import { Button } from '../../parts/controls/button.tsx';
import { Segmented } from '../../parts/controls/segmented.tsx';
import { Empty, LoadFailed, Loading, NodesNotice } from '../../parts/layout/notice.tsx';
import { PageBar } from '../../parts/layout/page-bar.tsx';
import { Figures } from '../../parts/text/figures.tsx';
import { saveText } from '../../parts/text/save-text.ts';
import { changeQuery, href } from '../../router/route.ts';
import { toast } from '../../state/toast.ts';
import type { PageProps } from '../page.ts';
import { PriceDialog } from './price-dialog.tsx';
import { UsageChart } from './usage-chart.tsx';
import { offsetMinutes } from './usage-steps.ts';
import { type PricedModel, UsageTable } from './usage-table.tsx';
import {
  atLeast,
  groups,
  measures,
  partOf,
  ranges,
  requestsOf,
  risesOf,
  type UsageFigures,
  usageViewOf,
} from './usage-view.ts';

/** The names of a group that are unfolded into a second split. */
interface Split {
  readonly by: UsageGroup;
  readonly names: readonly (string | null)[];
}

const none: readonly never[] = [];
const noRises: ReadonlyMap<string | null, number> = new Map();

/** How often the figures are read, in milliseconds. */
const everyMs = { minute: 10_000, hour: 10_000, day: 60_000, month: 60_000 } as const;

/** Names with a colour of their own; the next one is that of all others. */
const mostColours = 5;

/** What was spent, on what, and how that changed over time. */
export const Usage = ({ query }: PageProps) => {
  const view = usageViewOf(query);
  const { range, by, measure } = view;
  const { name: from, step, before } = range;
  const [priced, setPriced] = useState<PricedModel>();
  const offset = offsetMinutes();
  const overTime = useLoad(
    useCallback((signal) => readUsage({ from, by, step, offset }, signal), [from, by, step, offset]),
    everyMs[step],
  );
  const sums = useLoad(
    useCallback((signal) => readUsage({ from, by, step: 'none' }, signal), [from, by]),
    everyMs[step],
  );
  const earlier = useLoad(
    useCallback(
      async (signal) =>
        before === undefined
          ? undefined
          : (await readUsage({ from: before, to: from, by: 'all', step: 'none' }, signal)).total,
      [before, from],
    ),
    everyMs.month,
  );
  const facts = useLoad(readModelFacts);
  const prices = useMemo(
    () =>
      new Map(
        (facts.data ?? []).flatMap((one) =>
          one.models.map((known): [string, PricedModel] => [
            `${one.provider},${known.model}`,
            { provider: one.provider, model: known.model, price: known.price, source: priceSource(one, known) },
          ]),
        ),
      ),
    [facts.data],
  );
  const rows = useMemo(
    () => (sums.data?.rows ?? []).toSorted((one, other) => (measure.of(other) ?? 0) - (measure.of(one) ?? 0)),
    [sums.data, measure],
  );
  const rises = useMemo(
    () => (overTime.data && !measure.adds ? risesOf(overTime.data, measure.of, step) : noRises),
    [measure, overTime.data, step],
  );
  const names = useMemo(() => {
    // What became slow just now has a colour, whatever it was before.
    const inOrder = rows.toSorted((one, other) => (rises.get(other.name) ?? 0) - (rises.get(one.name) ?? 0));
    return inOrder.slice(0, mostColours).map(({ name }) => name);
  }, [rows, rises]);
  const [split, setSplit] = useState<Split>({ by, names: [] });
  const unfolded = split.by === by ? split.names : none;
  const download = async (): Promise<void> => {
    const shown = unfolded.length > 0 ? (`${by},${partOf(by)}` as const) : by;
    try {
      saveText(`usage-${from}-by-${shown.replace(',', '-')}.csv`, [await readUsageCsv({ from, by: shown, step })]);
    } catch (error) {
      toast(`Not downloaded: ${wordError(error)}`, 'failed');
    }
  };
  const error = sums.error ?? overTime.error ?? facts.error;
  const reload = (): void => {
    for (const one of [sums, overTime, earlier, facts]) one.reload();
  };
  return (
    <>
      <PageBar
        title="Usage"
        actions={
          <>
            <Segmented
              label="Time"
              value={range.name}
              onChange={(name) => changeQuery({ range: name })}
              options={ranges.map(({ name, title }) => ({ value: name, label: title }))}
            />
            <Button onClick={() => void download()}>Download CSV</Button>
          </>
        }
      />
      {error && <LoadFailed what="the usage" error={error} onRetry={reload} />}
      <NodesNotice machines={sums.data?.machines} />
      {!sums.data && !error && <Loading what="usage" />}
      {sums.data?.total.requests === 0 && (
        <Empty
          title="No requests in this time"
          actions={<a href={href('/playground')}>Send one from the playground</a>}
        >
          Each request counts here once it has ended.
        </Empty>
      )}
      {sums.data && sums.data.total.requests > 0 && (
        <Headline total={sums.data.total} earlier={earlier.data} failures={requestsOf({ from }, [], 'failed')} />
      )}
      {sums.data?.total.requests !== 0 && (
        <div className="row">
          <Segmented
            label="Measure"
            value={measure.name}
            onChange={(name) => changeQuery({ measure: name })}
            options={measures.map(({ name, title }) => ({ value: name, label: title }))}
          />
          <span className="soft">by</span>
          <Segmented label="Split by" value={by} onChange={(name) => changeQuery({ by: name })} options={groups} />
          <Button
            look="quiet"
            className="row-end"
            aria-pressed={view.isWhole}
            onClick={() => changeQuery({ all: view.isWhole ? '' : '1' })}
          >
            All figures
          </Button>
        </div>
      )}
      {sums.data && sums.data.total.requests > 0 && (
        <>
          {overTime.data && <UsageChart view={view} report={overTime.data} names={names} />}
          <UsageTable
            view={view}
            rows={rows}
            rises={rises}
            unfolded={unfolded}
            onUnfold={(of) => setSplit({ by, names: of })}
            total={sums.data.total}
            names={names}
            prices={prices}
            onPrice={setPriced}
            everyMs={everyMs[step]}
          />
          <p className="soft small">≥: at least, a part is unknown. –: unknown. Times: median · 95 %.</p>
        </>
      )}
      {priced && <PriceDialog model={priced} onSaved={facts.reload} onClose={() => setPriced(undefined)} />}
    </>
  );
};

interface HeadlineProps {
  readonly total: UsageFigures;
  /** Of the span before, if that is known. */
  readonly earlier: UsageFigures | undefined;
  /** The address of the failed requests. */
  readonly failures: string | undefined;
}

const Headline = ({ total, earlier, failures }: HeadlineProps) => {
  const { requests, errors, cost, unpriced, input, cacheRead, cacheWrite, saved, uncompared, overheadMs } = total;
  const prompt = input + cacheRead + cacheWrite;
  return (
    <Figures
      figures={[
        { title: 'Spent', value: atLeast(cost, unpriced, usd), note: changeOf(cost, earlier?.cost) },
        { title: 'Requests', value: count(requests), note: changeOf(requests, earlier?.requests) },
        {
          title: 'Failed',
          value: errors > 0 ? <a href={failures}>{count(errors)}</a> : '0',
          note: percent(errors, requests),
        },
        { title: 'From cache', value: percent(cacheRead, prompt), note: 'of all prompt tokens' },
        {
          title: 'Saved by routing',
          value: uncompared > 0 && saved === 0 ? '–' : usd(saved),
          note: uncompared > 0 ? `${count(uncompared)} not compared` : 'against the default model',
        },
        {
          title: 'Gateway overhead',
          value: overheadMs ? duration(overheadMs.p50) : '–',
          note: overheadMs && `95 % within ${duration(overheadMs.p95)}`,
        },
      ]}
    />
  );
};

const share = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 0 });
const signed = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 0, signDisplay: 'exceptZero' });

const percent = (part: number, whole: number): string => (whole === 0 ? '–' : share.format(part / whole));

/** `+12% on the span before`; nothing if there is none to compare with. */
const changeOf = (value: number, before: number | undefined): string | undefined =>
  before ? `${signed.format(value / before - 1)} on the span before` : undefined;
