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
  /** A page of figures, which is written only if they can be published. */
  readonly publish: string | undefined;
  /** Only what can be asked for is wanted. */
  readonly help: boolean;
}

/** What a run without other words plays with `--quick`: it ends within a minute. */
const quickScenes = ['plain-1', 'plain-64', 'body-100k', 'stream-fast'];

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
      publish: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const { quick, json, chart, publish, help } = values;
  if (quick && publish !== undefined) throw new Error('--publish needs a full run: leave --quick out.');
  return {
    scenes: scenesNamed(positionals.length === 0 && quick ? quickScenes : positionals),
    settings: {
      pairs: values.pairs?.split(',').map(pairNamed) ?? (quick ? pairs.slice(0, 1) : pairs),
      targets: await Promise.all(values.targets.split(',').map(findTarget)),
      quick,
    },
    json,
    chart,
    publish,
    help,
  };
};

/** What can be asked for. */
export const usage = (): string => `npm run bench -- [scene or group …] [options]

  --quick           a look: ${quickScenes.join(', ')} with ${pairs[0].name}, within a minute; or the scenes and pairs that are named
  --pairs a,b       ${pairs.map(({ name }) => name.replace('→', '-')).join(', ')}
  --targets a,b     gateways: junctor, folders of other checkouts, or modules that export a \`target\`
  --json FILE       the figures
  --chart FILE      a page with bars and the table
  --publish FILE    the figures and goals in Markdown; refused if other programs use the processor

scenes
${scenes.map(({ name, groups, about }) => `  ${name.padEnd(12)} ${about}${groups.length > 0 ? ` (${groups.join(', ')})` : ''}`).join('\n')}`;
