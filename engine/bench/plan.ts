import type { Scene, Settings } from './scenes/scene.ts';

/** What a run will do. */
interface Plan {
  readonly scenes: readonly Scene[];
  /** Scenes that this machine can't play. */
  readonly leftOut: readonly { readonly name: string; readonly why: string }[];
  /** The longest that it takes, if the machine isn't busy. */
  readonly seconds: number;
}

/** Plans a run on a machine. */
export const planRun = (
  scenes: readonly Scene[],
  settings: Settings,
  { cores, hasProcessorTime }: { readonly cores: number; readonly hasProcessorTime: boolean },
): Plan => {
  const leftOut = scenes.flatMap(({ name, needsCores = 1, needsProcessorTime = false }) => {
    if (needsCores > cores) return [{ name, why: `needs ${needsCores} cores` }];
    return needsProcessorTime && !hasProcessorTime ? [{ name, why: 'needs the processor time' }] : [];
  });
  const played = scenes.filter(({ name }) => !leftOut.some((each) => each.name === name));
  return {
    scenes: played,
    leftOut,
    seconds: played.reduce((sum, { seconds }) => sum + seconds(settings), 0),
  };
};

/** What comes, before it begins. */
export const wordPlan = ({ scenes, leftOut, seconds }: Plan, { targets }: Settings): string =>
  [
    `${scenes.map(({ name }) => name).join(', ')} of ${targets.map(({ name }) => name).join(', ')}: at most ` +
      `${wordDuration(seconds)} on an idle machine.`,
    ...leftOut.map(({ name, why }) => `Left out: ${name}, which ${why}.`),
  ].join('\n');

/** `50 s`, `12 min`. */
export const wordDuration = (seconds: number): string =>
  seconds < 100 ? `${Math.ceil(seconds)} s` : `${Math.ceil(seconds / 60)} min`;
