import type { ReplyContext } from '../../engine/model/protocol.ts';

/** What all parts of one reply have in common. */
export interface ReplyHead {
  readonly id: string;
  /** Unix seconds. */
  readonly created: number;
  readonly model: string;
}

/** The upstream's own id where it is of this wire's kind, else one made from the request's. */
export const replyHead = (id: string, model: string, context: ReplyContext): ReplyHead => ({
  id: /^chatcmpl-./.test(id) ? id : `chatcmpl-${context.id}`,
  created: Math.floor(context.startedAtMs / 1000),
  model: model === '' ? context.model : model,
});
