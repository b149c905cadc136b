import type { Yard } from '../yard/yard.ts';
import type { Recorder } from './recorder.ts';
import { tapLine } from './tap-line.ts';
import { tapUpstreams } from './tap-upstreams.ts';

/** A yard for one captured request: the same lines and upstreams, which tell the recorder what goes through them. */
export const tapYard = (yard: Yard, recorder: Recorder): Yard => ({
  ...yard,
  upstreams: tapUpstreams(yard.upstreams, recorder),
  lineTo: (ends) => tapLine(yard.lineTo(ends), recorder),
});
