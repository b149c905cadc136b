import type { Answered, Reconciled } from '../exchange.ts';
import type { PassThrough } from '../observer.ts';

/**
 * Decides what passes through unchanged, before the call: both sides speak the same format, no stage handles that direction,
 * and neither side wants a change. The client's body passes with its model replaced.
 */
export const mayPassThrough = ({ client, asked, request, resolution, plan, verbatim }: Reconciled): PassThrough => {
  const { graph, upstream } = plan;
  return {
    request:
      graph.requestPassThrough.open &&
      verbatim &&
      !resolution.tagged &&
      !client.needsRepair?.(asked) &&
      (upstream.acceptsVerbatim?.(request) ?? true),
    reply: graph.replyPassThrough.open && !client.rewritesReply?.(asked),
  };
};

/** Decides again when the answer's head is there: it must be streamed or whole as the client asked, with the same tool names. */
export const passesThrough = (
  { passThrough, progress, context }: Pick<Answered, 'passThrough' | 'progress' | 'context'>,
  streamed: boolean,
): PassThrough =>
  passThrough.reply && (streamed !== progress.streaming || context.names.changed)
    ? { ...passThrough, reply: false }
    : passThrough;
