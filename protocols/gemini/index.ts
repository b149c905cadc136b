import type { UpstreamProtocol } from '../../engine/model/protocol.ts';
import { type EffortWords, nearestEfforts } from '../../engine/model/wire/efforts.ts';
import { decodeFault } from './decode-fault.ts';
import { decodeReply } from './decode-reply/decode-reply.ts';
import { decodeStream } from './decode-reply/decode-stream.ts';
import { dialectOf, type GeminiOptions } from './dialect.ts';
import { encodeRequest } from './encode-request/encode-request.ts';
import { geminiServerGrammar } from './grammar.ts';
import { wireFormat } from './tool-names.ts';

export { geminiModelList } from './models.ts';
export { geminiSubset } from './tool-schema/door-schema.ts';

/** The efforts that stand for a model's thinking at servers of other formats; absent: it has no control over it. */
export const geminiEfforts = (model: string): EffortWords | undefined => {
  if (!knownGenerations.test(model)) return nearestEfforts('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max');
  const { thinking } = dialectOf(model, {});
  if (!thinking) return undefined;
  if (thinking.form === 'budget') {
    return thinking.canBeOff
      ? nearestEfforts('none', 'low', 'medium', 'high')
      : nearestEfforts('low', 'medium', 'high');
  }
  const [least, ...others] = thinking.levels.map((level) => effortOf[level]);
  return least && nearestEfforts(least, ...others);
};

/** A later generation may have any effort. */
const knownGenerations = /^gemini-(?:[1-4](?!\d)|pro|ultra)/;

const effortOf = {
  MINIMAL: 'minimal',
  LOW: 'low',
  MEDIUM: 'medium',
  HIGH: 'high',
  XHIGH: 'xhigh',
} as const;

/** The upstream side of `generateContent`. The dialect follows the request's model. */
export const geminiUpstream = (options: GeminiOptions = {}): UpstreamProtocol => ({
  wire: wireFormat,
  prompt: { front: ['tools', 'systemInstruction'], list: 'contents' },
  encodeRequest: encodeRequest(options),
  decodeStream,
  endsByClosing: true,
  decodeReply,
  decodeFault,
  grammar: geminiServerGrammar,
  contentMarker: '"candidates"',
});
