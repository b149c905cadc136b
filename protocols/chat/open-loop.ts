import { isOff } from '../../engine/model/drop-reasoning.ts';
import type { ModelRequest, Turn } from '../../engine/model/request.ts';
import type { ChatDialect } from './dialect.ts';
import { wireFormat } from './reasoning-details.ts';

/**
 * Whether the model would refuse to think: it wants to see the reasoning that led to the calls of a tool loop which is still
 * going on, and some of it is missing, since another model made them or the client lost it.
 */
export const loopForbidsThinking = ({ model, reasoning, turns }: ModelRequest, dialect: ChatDialect): boolean => {
  if (!reasoning || isOff(reasoning) || !dialect.reasoningHistory?.sealed?.test(model)) return false;
  const spoken = turns.findLastIndex(
    ({ role, parts }) => role === 'user' && parts.some(({ type }) => type !== 'tool-result'),
  );
  return turns.slice(spoken + 1).some((turn) => calls(turn) && !isSealed(turn));
};

const calls = ({ parts }: Turn): boolean => parts.some(({ type }) => type === 'tool-call');

const isSealed = ({ parts }: Turn): boolean =>
  parts.some(
    (part) =>
      (part.type === 'thinking' || part.type === 'redacted-thinking') &&
      part.signature?.format === wireFormat &&
      part.signature.data !== '',
  );
