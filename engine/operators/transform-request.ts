import { type MonoTypeOperatorFunction, map, mergeMap, of } from 'rxjs';
import type { Routed } from '../exchange.ts';
import { stageFailed } from '../stage-failed.ts';
import type { RequestHalf } from '../yard/halves.ts';
import type { Yard } from '../yard/yard.ts';
import { asRequest } from './as-request.ts';
import { awaitRequest } from './await-request.ts';

/** Each stage's request half, in list order. Throws `stage-failed`, with the stage's name, for what goes wrong in one. */
export const transformRequest = ({ config }: Yard): MonoTypeOperatorFunction<Routed> =>
  mergeMap((routed) => {
    const { line, relays, request } = routed;
    if (relays.request) return of(routed);
    return line.graph.requestHalves
      .reduce((asked, { name, work }) => asked.pipe(runHalf(routed, name, work, config.timeouts.stageMs)), of(request))
      .pipe(map((changed) => (changed === request ? routed : { ...routed, request: changed })));
  });

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
