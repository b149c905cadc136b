import { finalize, identity, type MonoTypeOperatorFunction, tap } from 'rxjs';
import type { Answered, Decoded, Exchange, Ready, Routed } from '../exchange.ts';
import type { ReplyPart } from '../reply-part.ts';
import { tapYard } from '../requests/tap-yard.ts';
import type { Yard } from '../yard/yard.ts';

/** The yard that a request is served from: a captured one's own, whose stages and upstreams are recorded, or this very one. */
export const tapYardOf = ({ record }: Exchange, yard: Yard): Yard =>
  record?.recorder ? tapYard(yard, record.recorder) : yard;

/** Records a request as its client meant it; identity unless it is captured. So are all taps but `tapAnswer`. */
export const tapDecoded = ({ record }: Exchange): ((decoded: Decoded) => Decoded) => {
  const recorder = record?.recorder;
  return recorder ? also((decoded: Decoded) => recorder.decoded(decoded)) : identity;
};

/** Records the request for who answers it. */
export const tapRouted = ({ record }: Exchange): ((routed: Routed) => Routed) => {
  const recorder = record?.recorder;
  return recorder ? also((routed: Routed) => recorder.routed(routed)) : identity;
};

/** Records what became of earlier reasoning, where something did. */
export const tapSettled = ({ record }: Exchange): ((routed: Routed) => Routed) => {
  const recorder = record?.recorder;
  return recorder ? also((routed: Routed) => recorder.settled(routed)) : identity;
};

/** Records the call to be made. */
export const tapEncoded = ({ record }: Exchange): ((ready: Ready) => Ready) => {
  const recorder = record?.recorder;
  return recorder ? also((ready: Ready) => recorder.encoded(ready)) : identity;
};

/** Notes which halves pass as they came; for the summary that is kept of every request. */
export const tapAnswer = ({ record }: Exchange): MonoTypeOperatorFunction<Answered> =>
  record ? tap((answered) => record.answered(answered)) : identity;

/** Records what the client gets, and when. */
export const tapReply = ({ record }: Exchange): MonoTypeOperatorFunction<ReplyPart> => {
  const recorder = record?.recorder;
  return recorder
    ? (source) =>
        source.pipe(
          tap((part) => recorder.part(part)),
          finalize(() => recorder.mark('end')),
        )
    : identity;
};

/** A step that looks at what passes. */
const also =
  <T>(look: (value: T) => void): ((value: T) => T) =>
  (value) => {
    look(value);
    return value;
  };
