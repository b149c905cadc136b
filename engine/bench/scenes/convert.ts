import { type ConversionCost, measureConversions, plainConvertOptions, quickConvertOptions } from '../convert.ts';
import { figureOf, ratioOf } from '../measure/figure.ts';
import { allPairs, pairs } from '../wire.ts';
import type { Row, Scene } from './scene.ts';

/** The conversion of streams alone, beside `JSON.parse` of the same records. */
export const convertScene: Scene = {
  name: 'convert',
  groups: [],
  about:
    'the conversion of streams of text alone, in this process, for each pair: µs per record beside JSON.parse of it',
  seconds: ({ quick }) => (quick ? 15 : 60),
  async run({ settings: { quick, pairs: named }, progress }) {
    const options = quick ? quickConvertOptions : plainConvertOptions;
    return measureConversions(named === pairs ? allPairs : named, options, (round) =>
      progress(`convert: round ${round} of ${options.rounds}`),
    ).flatMap(rowsOf);
  },
};

const floor = 'JSON.parse';

const rowsOf = ({ pair, convertUs, parseUs }: ConversionCost): readonly Row[] => {
  const row = { scene: 'convert', pair: pair.name, unit: 'event' } as const;
  const [cpuUs, floorUs] = [figureOf(convertUs), figureOf(parseUs)];
  const ratio = ratioOf(convertUs, parseUs);
  return [
    { ...row, participant: 'conversion', ...(cpuUs && { cpuUs }), ...(ratio && { ratio: { to: floor, ...ratio } }) },
    { ...row, participant: floor, ...(floorUs && { cpuUs: floorUs }) },
  ];
};
