import { setTimeout as wait } from 'node:timers/promises';
import { startFloor } from '../floors/start-floor.ts';
import { median, ratioOf } from '../measure/figure.ts';
import { readMemory } from '../measure/memory.ts';
import type { RunningTarget, Target } from '../targets/target.ts';
import { wholeAnswer } from '../upstream/plan.ts';
import { firstAnswer } from './first-answer.ts';
import type { Row, Scene, Stage } from './scene.ts';

const starter =
  ({ upstream }: Stage) =>
  (target: Target): Promise<RunningTarget> =>
    target.start({ upstreamUrl: upstream.baseUrl, upstream: 'chat', workers: 1, env: {} });

const pair = 'chat→chat';

/** The bare stack as a program of its own: the floor for cold start and idle memory. */
const bare: Target = { name: 'bare', start: ({ upstreamUrl }) => startFloor(upstreamUrl) };

/** What it takes to be there: seconds to the first answer, memory while nothing is asked. Beside the bare stack. */
export const startScenes: readonly Scene[] = [
  {
    name: 'cold-start',
    groups: ['start'],
    seconds: ({ targets, quick }) => (1 + targets.length) * (quick ? 3 : 7),
    about: 'from the start of the program to its first answer',
    async run(stage) {
      await stage.upstream.plan(wholeAnswer);
      const seconds = new Map<string, number[]>();
      const start = starter(stage);
      const times = stage.settings.quick ? 3 : 7;
      for (let time = 0; time < times; time += 1) {
        for (const target of [bare, ...stage.settings.targets]) {
          stage.progress(`cold-start: ${target.name}, ${time + 1} of ${times}`);
          const startedAt = performance.now();
          const running = await start(target);
          await firstAnswer(running.baseUrl, 'chat', running.headers);
          const list = seconds.get(target.name) ?? [];
          seconds.set(target.name, [...list, (performance.now() - startedAt) / 1e3]);
          await running.stop();
        }
      }
      const floor = seconds.get(bare.name) ?? [];
      return [...seconds].map(([participant, list]): Row => {
        const ratio = participant === bare.name ? undefined : ratioOf(list, floor);
        return {
          scene: 'cold-start',
          pair,
          participant,
          unit: 'start',
          startSeconds: median(list),
          ...(ratio && { ratio: { to: bare.name, ...ratio } }),
        };
      });
    },
  },
  {
    name: 'idle-memory',
    needsProcessorTime: true,
    groups: ['start'],
    seconds: ({ targets, quick }) => (1 + targets.length) * (quick ? 3 : 6),
    about: 'resident memory of the program five seconds after its first answer',
    async run(stage) {
      await stage.upstream.plan(wholeAnswer);
      const start = starter(stage);
      const idle = new Map<string, number>();
      for (const target of [bare, ...stage.settings.targets]) {
        stage.progress(`idle-memory: ${target.name}`);
        const running = await start(target);
        await firstAnswer(running.baseUrl, 'chat', running.headers);
        await wait(stage.settings.quick ? 2_000 : 5_000);
        idle.set(target.name, readMemory(running.pid).rssMb);
        await running.stop();
      }
      const floor = idle.get(bare.name) ?? 0;
      return [...idle].map(([participant, idleMb]): Row => {
        const ratio = participant === bare.name ? undefined : ratioOf([idleMb], [floor]);
        return {
          scene: 'idle-memory',
          pair,
          participant,
          unit: 'process',
          idleMb,
          ...(ratio && { ratio: { to: bare.name, ...ratio } }),
        };
      });
    },
  },
];
