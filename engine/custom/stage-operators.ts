import type { MonoTypeOperatorFunction } from 'rxjs';
import type { ModelEvent } from '../model/event.ts';
import type { ModelRequest } from '../model/request.ts';
import type { Stage } from '../model/transformer.ts';

/** Halves of a stage as RxJS operators over the typed model. They may take their time: call a service, wait, throttle. */
export interface StageOperators {
  /** Gets one request; emits one request and completes. */
  readonly request?: MonoTypeOperatorFunction<ModelRequest>;
  /** Gets one batch of events per piece of the upstream's answer (all of it in one when it isn't streamed). */
  readonly events?: MonoTypeOperatorFunction<readonly ModelEvent[]>;
}

/** A stage whose halves may also be operators; each half has one of the two forms. */
export interface OpenStage extends Stage {
  readonly operators?: StageOperators;
}
