import { parseArgs } from 'node:util';
import { scenes, scenesNamed } from './scenes/index.ts';
import type { Scene, Settings } from './scenes/scene.ts';
import { findTarget } from './targets/find-target.ts';
import { pairNamed, pairs } from './wire.ts';

/** What a run was asked to do. */
interface Options {
  readonly scenes: readonly Scene[];
  readonly settings: Settings;
  /** Files to be written. */
  readonly json: string | undefined;
  readonly chart: string | undefined;
  /** Only what can be asked for is wanted. */
  readonly help: boolean;
}

/** Reads the command line. Rejects with an error worded for users. */
export const readOptions = async (args: readonly string[]): Promise<Options> => {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      pairs: { type: 'string' },
      targets: { type: 'string', default: 'junctor' },
      quick: { type: 'boolean', default: false },
      json: { type: 'string' },
      chart: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  return {
    scenes: scenesNamed(positionals),
    settings: {
      pairs: values.pairs?.split(',').map(pairNamed) ?? (values.quick ? pairs.slice(0, 2) : pairs),
      targets: await Promise.all(values.targets.split(',').map(findTarget)),
      quick: values.quick,
    },
    json: values.json,
    chart: values.chart,
    help: values.help,
  };
};

/** What can be asked for. */
export const usage = (): string => `npm run bench -- [scene or group …] [options]

  --pairs a,b       ${pairs.map(({ name }) => name.replace('→', '-')).join(', ')}
  --targets a,b     gateways: junctor, folders of other checkouts, or modules that export a \`target\`
  --quick           some 15 s per scene and pair, two pairs: to compare while you work
  --json FILE       the figures
  --chart FILE      a page with bars and the table

scenes
${scenes.map(({ name, groups, about }) => `  ${name.padEnd(12)} ${about}${groups.length > 0 ? ` (${groups.join(', ')})` : ''}`).join('\n')}`;
