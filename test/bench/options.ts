import { parseArgs } from 'node:util';
import { scenes, scenesNamed } from './scenes/index.ts';
import type { Scene, Settings } from './scenes/scene.ts';
import { ablatedTargets, ablations } from './targets/ablations.ts';
import { findTarget } from './targets/find-target.ts';
import { allPairs, type Pair, pairNamed, pairs } from './wire.ts';

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
      targets: { type: 'string' },
      ablate: { type: 'string' },
      quick: { type: 'boolean', default: false },
      json: { type: 'string' },
      chart: { type: 'string' },
      publish: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const { targets, ablate, quick, json, chart, publish, help } = values;
  if (quick && publish !== undefined) throw new Error('--publish needs a full run: leave --quick out.');
  if (ablate !== undefined && targets !== undefined)
    throw new Error('--ablate chooses the targets: leave --targets out.');
  const usual = usualOf(ablate !== undefined, quick);
  return {
    scenes: scenesNamed(positionals.length === 0 ? usual.scenes : positionals),
    settings: {
      pairs: values.pairs?.split(',').map(pairNamed) ?? usual.pairs,
      targets:
        ablate === undefined
          ? await Promise.all((targets ?? 'junctor').split(',').map(findTarget))
          : ablatedTargets(ablate.split(',')),
      quick,
    },
    json,
    chart,
    publish,
    help,
  };
};

/** Scenes, all if empty, and pairs of a run that names none. */
const usualOf = (
  ablates: boolean,
  quick: boolean,
): { readonly scenes: readonly string[]; readonly pairs: readonly Pair[] } => {
  if (ablates) return { scenes: ['plain-64'], pairs: pairs.slice(0, quick ? 1 : 2) };
  return quick ? { scenes: quickScenes, pairs: pairs.slice(0, 1) } : { scenes: [], pairs };
};

/** What can be asked for. */
export const usage = (): string => `npm run bench -- [scene or group …] [options]

  --quick           a look: ${quickScenes.join(', ')} with ${pairs[0].name}, within a minute; or the scenes and pairs that are named
  --pairs a,b       ${allPairs.map(({ name }) => name.replace('→', '-')).join(', ')}
  --targets a,b     gateways: junctor, folders of other checkouts, or modules that export a \`target\`
  --ablate a,b      this checkout, and beside it the same without one thing at a time; in plain-64 if no scene is named
  --json FILE       the figures
  --chart FILE      a page with bars and the table
  --publish FILE    the figures and goals in Markdown; refused if other programs use the processor

--ablate all, or
${ablations.map(({ name, about }) => `  ${name.padEnd(12)} ${about}`).join('\n')}

scenes
${scenes.map(({ name, groups, about }) => `  ${name.padEnd(12)} ${about}${groups.length > 0 ? ` (${groups.join(', ')})` : ''}`).join('\n')}`;
