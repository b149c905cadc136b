import type { MonoTypeOperatorFunction } from 'rxjs';
import type { OpenStage } from '../custom/stage-operators.ts';
import type { ModelEvent } from '../model/event.ts';
import type { Losses } from '../model/loss.ts';
import type { Machine } from '../model/machine.ts';
import type { ModelRequest } from '../model/request.ts';

/** What a stage does to requests. */
export type RequestHalf =
  | { readonly form: 'function'; readonly run: (request: ModelRequest, losses: Losses) => ModelRequest }
  | { readonly form: 'operator'; readonly run: MonoTypeOperatorFunction<ModelRequest> };

/** What a stage does to answers. */
export type EventsHalf = (
  | { readonly form: 'machine'; readonly run: Machine<ModelEvent, ModelEvent> }
  | { readonly form: 'operator'; readonly run: MonoTypeOperatorFunction<readonly ModelEvent[]> }
) & {
  /** It isn't ours: what it gives is checked. */
  readonly foreign: boolean;
};

/** The stage's way there, if it has one. */
export const requestHalf = ({ request, operators }: OpenStage): RequestHalf | undefined => {
  if (request) return { form: 'function', run: request };
  return operators?.request && { form: 'operator', run: operators.request };
};

/** The stage's way back, if it has one. */
export const eventsHalf = ({ events, operators }: OpenStage, foreign: boolean): EventsHalf | undefined => {
  if (events) return { form: 'machine', run: events, foreign };
  return operators?.events && { form: 'operator', run: operators.events, foreign };
};
