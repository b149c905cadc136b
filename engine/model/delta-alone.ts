import type { ModelEvent } from './event.ts';

/** Whether what came since `from` is a piece of content and nothing else: of such records a stream has many alike. */
export const isDeltaAlone = (events: readonly ModelEvent[], from: number): boolean => {
  const type = events.length === from + 1 ? events[from]?.type : undefined;
  return type === 'text-delta' || type === 'thinking-delta' || type === 'input-delta';
};
