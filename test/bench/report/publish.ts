import { floors } from '../scenes/participants.ts';
import type { Row } from '../scenes/scene.ts';
import { wordMachine } from './machine.ts';
import type { RunReport } from './run-report.ts';
import { renderReach, renderRows, wordFigure } from './table.ts';

/** The figures of a run in Markdown: the costs and their floors, then the goals. */
export const renderFigures = ({ startedAt, machine, foreignCores, rows, reach }: RunReport): string => {
  const measured = rows.filter(({ participant, cpuUs, ratio }) => !floors.has(participant) && cpuUs && ratio?.moreUs);
  const conditions = `${startedAt.slice(0, 10)}, ${wordMachine(machine)}; other programs used ${foreignCores.toFixed(2)} cores.`;
  return `${conditions}

${renderRows([
  ['scene', 'pair', 'who', 'µs', 'floor, µs', 'difference, µs', '× floor'],
  ...measured.map((row) => costCells(row, rows)),
])}

${renderReach(reach)}
`;
};

const costCells = ({ scene, pair, participant, unit, cpuUs, ratio }: Row, rows: readonly Row[]): readonly string[] => {
  const floor = rows.find((each) => each.scene === scene && each.pair === pair && each.participant === ratio?.to);
  return [
    scene,
    pair,
    participant,
    cpuUs ? `${wordFigure(cpuUs)} per ${unit}` : '',
    floor?.cpuUs ? wordFigure(floor.cpuUs) : '',
    ratio?.moreUs ? wordFigure(ratio.moreUs) : '',
    ratio ? wordFigure(ratio) : '',
  ];
};
