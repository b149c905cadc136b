import Type from 'typebox';
import { adminOperation, jsonTextReply } from '../../../admin/endpoint.ts';
import type { WholeReply } from '../../http/endpoint.ts';
import { fail } from '../../model/fault.ts';
import type { AskStore } from '../../store/questions.ts';
import type { AnsweredNodes } from '../record/schema.ts';
import { readUsageQuery, usageCsv, usageReport } from './report.ts';
import { type UsageCell, UsageGroup, UsageInterval, type UsageQuery, UsageReport } from './schema.ts';

/** Dependencies of the endpoint of usage. */
interface UsageParts {
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
  readonly ask: AskStore;
  /** The same of other nodes; `undefined`: there are none. */
  readonly others: (
    query: UsageQuery,
  ) => Promise<{ readonly heard: AnsweredNodes; readonly cells: readonly UsageCell[] }> | undefined;
}

/** `GET /api/usage`: requests, tokens and cost over time, of all processes, earlier ones included, and of other nodes. */
export const usageOperations = ({ nowMs, ask, others }: UsageParts) => ({
  report: adminOperation({
    summary: 'Requests, tokens and cost over time',
    says: 'Sums by name, and by 5 seconds, minute, hour, day or month.',
    reply: UsageReport,
    query: {
      from: Type.String({ default: '30d', description: 'A time (`2026-01-31`), or how long ago (`36h`, `7d`).' }),
      to: Type.String({ description: 'The end, which is left out; default: now.' }),
      by: Type.String({
        default: 'model',
        description: `One of ${UsageGroup.enum.join(', ')}, or two of them: \`client,model\`.`,
      }),
      step: Type.Enum(UsageInterval.enum, {
        default: 'none',
        description: '`5s`: at most the last hour; `minute`: at most the last 2 days; `hour`: at most 31 days.',
      }),
      offset: Type.Integer({
        default: 0,
        description: 'Minutes that the clock by which days and months begin is ahead of UTC.',
      }),
      format: Type.Enum(['json', 'csv'], { default: 'json' }),
    },
    async answer({ query }) {
      const params = new URLSearchParams(query);
      const format = params.get('format') ?? 'json';
      if (format !== 'json' && format !== 'csv')
        return fail('invalid-request', 'format must be one of json, csv.', { param: 'format' });
      const asked = Object.fromEntries(params);
      const read = readUsageQuery(asked, nowMs());
      const [far, own] = await Promise.all([others(read), ask('usage', read)]);
      const report = usageReport(read, own, ...(far ? [far.cells] : []));
      if (far) report.machines = far.heard;
      return format === 'csv' ? csvReply(usageCsv(report)) : jsonTextReply(JSON.stringify(report));
    },
  }),
});

const csvReply = (body: string): WholeReply => ({
  type: 'whole',
  status: 200,
  headers: {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': 'attachment; filename="usage.csv"',
    'cache-control': 'no-store',
  },
  body,
});
