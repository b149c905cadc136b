import { median } from '../measure/figure.ts';
import { estimateOf } from '../measure/interval.ts';
import { floors } from '../scenes/participants.ts';
import type { Row } from '../scenes/scene.ts';
import { pairwise, wordEstimate } from './compare.ts';

/** What a stage adds to each row of the gateway that has it, beside the same gateway without it, as lines of text. */
export const renderStageCost = (rows: readonly Row[]): string =>
  rows
    .flatMap((row) => {
      const without = rows.find(
        (each) => each.scene === row.scene && each.pair === row.pair && !floors.has(each.participant),
      );
      if (floors.has(row.participant) || without === row) return [];
      if (!row.rounds || !without?.rounds || row.failed !== undefined) return [];
      const added = (what: 'cpuUs' | 'firstTokenMs' | 'peakMb') =>
        estimateOf(
          pairwise(row.rounds?.[what] ?? [], without.rounds?.[what] ?? [], (a, b) => a - b),
          [1],
          median,
        );
      const [cost, first, memory] = [added('cpuUs'), added('firstTokenMs'), added('peakMb')];
      return [
        `${row.scene}, ${row.pair}: the stage adds`,
        ...(cost ? [`  per ${row.unit.padEnd(15)} ${wordEstimate(cost, 'µs of processor time')}`] : []),
        ...(first ? [`  to the first token  ${wordEstimate(first, 'ms')}`] : []),
        ...(memory ? [`  in memory           ${wordEstimate(memory, 'MB')}`] : []),
      ];
    })
    .join('\n');
