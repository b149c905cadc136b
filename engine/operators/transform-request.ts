import { map, of } from 'rxjs';
import type { Routed } from '../exchange.ts';
import { stageFailed } from '../stage-failed.ts';
import type { RequestHalf } from '../yard/halves.ts';
import type { Yard } from '../yard/yard.ts';
import { asRequest } from './as-request.ts';
import { awaitRequest } from './await-request.ts';
import type { Step } from './steps.ts';

/** Each stage's request half, in list order. Throws `stage-failed`, with the stage's name, for what goes wrong in one. */
export const transformRequest =
  ({ config }: Yard): Step<Routed, Routed> =>
  (routed) => {
    const { line, relays, request } = routed;
    const halves = line.graph.requestHalves;
    if (relays.request || halves.length === 0) return routed;
    return halves
      .reduce((asked, { name, work }) => asked.pipe(runHalf(routed, name, work, config.timeouts.stageMs)), of(request))
      .pipe(map((changed) => (changed === request ? routed : { ...routed, request: changed })));
  };

const runHalf = ({ context }: Routed, name: string, half: RequestHalf, limitMs: number) =>
  half.form === 'operator'
    ? awaitRequest(name, half.run, limitMs)
    : map((request: Routed['request']) => {
        try {
          return asRequest(half.run(request, context.losses.at(name)));
        } catch (error) {
          throw stageFailed(name, 'failed on the request', error);
        }
      });
