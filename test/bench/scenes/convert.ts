import { type ConversionCost, measureConversions, plainConvertOptions, quickConvertOptions } from '../convert.ts';
import { figureOf, ratioOf } from '../measure/figure.ts';
import type { Row, Scene } from './scene.ts';

/** The conversion of streams alone, beside `JSON.parse` of the same records. */
export const convertScene: Scene = {
  name: 'convert',
  groups: [],
  about:
    'the conversion of recorded streams alone, in this process, for each pair: µs per record beside JSON.parse of it',
  seconds: ({ quick }) => (quick ? 15 : 90),
  async run({ settings: { quick }, progress }) {
    const options = quick ? quickConvertOptions : plainConvertOptions;
    const costs = measureConversions(options, (round) => progress(`convert: round ${round} of ${options.rounds}`));
    return costs.flatMap(rowsOf);
  },
};

const rowsOf = ({ wire, content, client, convertUs, parseUs }: ConversionCost): readonly Row[] => {
  const row = { scene: 'convert', pair: `${client}→${wire}`, unit: 'event' } as const;
  const floor = `JSON.parse of ${content}`;
  const [cpuUs, floorUs] = [figureOf(convertUs), figureOf(parseUs)];
  const ratio = ratioOf(convertUs, parseUs);
  return [
    { ...row, participant: content, ...(cpuUs && { cpuUs }), ...(ratio && { ratio: { to: floor, ...ratio } }) },
    { ...row, participant: floor, ...(floorUs && { cpuUs: floorUs }) },
  ];
};
