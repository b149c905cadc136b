import { useCallback, useState } from 'react';
import { wordError } from '../../api/api-error.ts';
import { readUsage, readUsageCsv } from '../../api/usage.ts';
import { useLoad } from '../../api/use-load.ts';
import { Button } from '../../parts/controls/button.tsx';
import { SelectField } from '../../parts/controls/field.tsx';
import { Segmented } from '../../parts/controls/segmented.tsx';
import { LoadFailed } from '../../parts/layout/load-failed.tsx';
import { MachinesNotice } from '../../parts/layout/machines-notice.tsx';
import { Notice } from '../../parts/layout/notice.tsx';
import { PageBar } from '../../parts/layout/page-bar.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { saveText } from '../../parts/text/save-text.ts';
import { navigate } from '../../router/route.ts';
import type { PageProps } from '../page.ts';
import { PricesPanel } from './prices-panel.tsx';
import { UsageCharts } from './usage-charts.tsx';
import { TimesTable, UsageTable } from './usage-table.tsx';
import { groups, ranges, usageAddress, usageViewOf } from './usage-view.ts';
import './usage.css';

/** How often the figures are read, in milliseconds. */
const everyMs = { minute: 10_000, hour: 10_000, day: 60_000, month: 60_000 } as const;

/** Requests, tokens and cost over time. */
export const Usage = ({ query }: PageProps) => {
  const { range, by } = usageViewOf(query);
  const { name: from, step } = range;
  const [problem, setProblem] = useState('');
  const overTime = useLoad(
    useCallback((signal) => readUsage({ from, by: 'all', step }, signal), [from, step]),
    everyMs[step],
  );
  const sums = useLoad(
    useCallback((signal) => readUsage({ from, by, step: 'none' }, signal), [from, by]),
    everyMs[step],
  );
  const download = async (): Promise<void> => {
    setProblem('');
    try {
      saveText(`usage-${from}-by-${by}.csv`, [await readUsageCsv({ from, by, step })]);
    } catch (error) {
      setProblem(wordError(error));
    }
  };
  const error = sums.error ?? overTime.error;
  return (
    <>
      <PageBar
        title="Usage"
        about="Requests, tokens, cost and times by model, provider or client. Kept for 400 days."
        actions={
          <Segmented
            label="Time"
            value={range.name}
            onChange={(name) => navigate(usageAddress({ range: name, by }))}
            options={ranges.map(({ name, title }) => ({ value: name, label: title }))}
          />
        }
      />
      {problem && (
        <Notice kind="failed" title="Not downloaded">
          {problem}
        </Notice>
      )}
      {error && (
        <LoadFailed
          what="the usage"
          error={error}
          onRetry={() => {
            sums.reload();
            overTime.reload();
          }}
        />
      )}
      <MachinesNotice machines={sums.data?.machines} />
      {overTime.data && <UsageCharts report={overTime.data} step={step} />}
      <Panel
        flush
        title="Totals"
        about="≥: at least; a part is unknown. –: unknown."
        actions={
          <>
            <SelectField
              label="Group by"
              unlabelled
              value={by}
              options={groups}
              onChange={(value) => navigate(usageAddress({ range: range.name, by: value }))}
            />
            <Button onClick={() => void download()}>Download CSV</Button>
          </>
        }
      >
        {sums.data && <UsageTable report={sums.data} />}
      </Panel>
      {sums.data && sums.data.rows.length > 0 && (
        <Panel flush title="Times" about="95 % and 99 % of the requests were at least this fast, within 12 %.">
          <TimesTable report={sums.data} />
        </Panel>
      )}
      <PricesPanel />
    </>
  );
};
