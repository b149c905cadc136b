import { convertScene } from './convert.ts';
import { flatScene } from './flat.ts';
import { lanesScene } from './lanes.ts';
import { ownScene } from './own.ts';
import { plainScenes } from './plain.ts';
import type { Scene } from './scene.ts';
import { startScenes } from './start.ts';
import { streamingScenes } from './streaming.ts';
import { sweepScene } from './sweep.ts';
import { toolTurnsScene } from './tool-turns.ts';
import { workersScene } from './workers.ts';

/** Every scene, in the order in which they run. */
export const scenes: readonly Scene[] = [
  lanesScene,
  convertScene,
  ownScene,
  ...plainScenes,
  ...streamingScenes,
  toolTurnsScene,
  flatScene,
  workersScene,
  ...startScenes,
  sweepScene,
];

/** The scenes of these names or groups, all when there are none; an unknown name throws an error that lists them. */
export const scenesNamed = (names: readonly string[]): readonly Scene[] => {
  const unknown = names.find((name) => !scenes.some((scene) => answersTo(scene, name)));
  if (unknown !== undefined) {
    throw new Error(`No scene is called ${unknown}; there are ${scenes.map(({ name }) => name).join(', ')}.`);
  }
  return names.length === 0 ? scenes : scenes.filter((scene) => names.some((name) => answersTo(scene, name)));
};

const answersTo = ({ name, groups }: Scene, asked: string): boolean => name === asked || groups.includes(asked);
