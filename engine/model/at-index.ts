import type { ModelEvent } from './event.ts';

/** An event of a block. */
export type BlockEvent = Extract<ModelEvent, { readonly index: number }>;

/** The event at another block index: stages that add or remove blocks move those behind them. */
export const atIndex = <E extends BlockEvent>(event: E, index: number): E =>
  event.index === index ? event : { ...event, index };
