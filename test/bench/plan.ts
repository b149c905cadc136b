import type { Scene, Settings } from './scenes/scene.ts';

/** What a run will do. */
interface Plan {
  readonly scenes: readonly Scene[];
  /** Scenes that this machine has too few cores for. */
  readonly leftOut: readonly Scene[];
  /** The longest that it takes, if the machine isn't busy. */
  readonly seconds: number;
}

/** Plans a run on a machine with so many cores. */
export const planRun = (scenes: readonly Scene[], settings: Settings, cores: number): Plan => {
  const fits = ({ needsCores = 1 }: Scene): boolean => needsCores <= cores;
  const played = scenes.filter(fits);
  return {
    scenes: played,
    leftOut: scenes.filter((scene) => !fits(scene)),
    seconds: played.reduce((sum, { seconds }) => sum + seconds(settings), 0),
  };
};

/** What comes, before it begins. */
export const wordPlan = ({ scenes, leftOut, seconds }: Plan, { pairs, targets }: Settings): string =>
  [
    `${scenes.length} ${scenes.length === 1 ? 'scene' : 'scenes'} with ${pairs.map(({ name }) => name).join(', ')}, ` +
      `of ${targets.map(({ name }) => name).join(', ')}: at most ${wordDuration(seconds)} on an idle machine.`,
    ...leftOut.map(({ name, needsCores }) => `Left out: ${name}, which needs ${needsCores} cores.`),
  ].join('\n');

/** `50 s`, `12 min`. */
export const wordDuration = (seconds: number): string =>
  seconds < 100 ? `${Math.ceil(seconds)} s` : `${Math.ceil(seconds / 60)} min`;
