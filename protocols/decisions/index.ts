import type { ReplyContext } from '../../engine/model/context.ts';
import { decisionText } from '../../engine/model/decision.ts';
import type { ModelEvent, Usage } from '../../engine/model/event.ts';
import { type Fault, fail } from '../../engine/model/fault.ts';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../engine/model/json/json.ts';
import { machine } from '../../engine/model/machine.ts';
import type { UpstreamProtocol } from '../../engine/model/protocol.ts';
import type { DecisionQuestion, ModelRequest } from '../../engine/model/request.ts';
import type { SseRecord } from '../../engine/model/wire/sse-record.ts';
import { type DecisionApi, dialects } from './dialects.ts';
import { decisionsGrammar } from './grammar.ts';

export { type DecisionApi, dialects } from './dialects.ts';

/** The upstream side of a format for decisions: a question in, an answer with probabilities out. Such a model writes no texts. */
export const decisionsUpstream = (api: DecisionApi): Omit<UpstreamProtocol, 'decodeFault'> => {
  const dialect = dialects[api];
  const decodeReply = (body: JsonObject, context: ReplyContext): ModelEvent[] => {
    const { decision } = context.request;
    const found = decision && dialect.decode(body, decision);
    if (!found) return [{ type: 'error', fault: garbled }];
    const { answer, probabilities } = found;
    const text = answer === undefined ? '' : decisionText(answer);
    return [
      { type: 'message-start', id: textOf(body.id), model: textOf(body.model) || context.model },
      { type: 'block-start', index: 0, block: { type: 'text' } },
      ...(text === '' ? [] : [{ type: 'text-delta', index: 0, text } as const]),
      { type: 'block-stop', index: 0 },
      {
        type: 'message-stop',
        finish: answer === undefined ? 'filtered' : 'end',
        usage: usageOf(body.usage),
        probabilities,
      },
    ];
  };
  return {
    wire: 'decisions',
    reportsProbabilities: true,
    prompt: { front: [], list: 'questions' },
    encodeRequest: (request) => dialect.encode(request.model, questionOf(request)),
    grammar: decisionsGrammar,
    contentMarker: '"answers"',
    decodeReply,
    // None streams; a server that does all the same sends its reply as a record.
    decodeStream: machine<{ readonly context: ReplyContext }, SseRecord, ModelEvent>({
      initial: (context) => ({ context }),
      step({ context }, { data }, out) {
        const body = parseJson(data);
        if (isJsonObject(body)) out.push(...decodeReply(body, context));
      },
    }),
  };
};

/** The question to such a model. Throws an `invalid-request` fault for a request of another kind. */
const questionOf = ({ decision, model }: ModelRequest): DecisionQuestion =>
  decision ??
  fail(
    'invalid-request',
    `${model} answers questions of conditions and stages alone: its provider speaks a format for decisions.`,
    { param: 'model' },
  );

const garbled: Fault = { kind: 'upstream-garbled', message: "The upstream's answer holds no decision." };

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

/** Token counts → usage; both formats have the same names. OpenRouter adds the cost in USD. */
const usageOf = (usage: Json | undefined): Usage => {
  if (!isJsonObject(usage)) return {};
  const { input_tokens: all, output_tokens: output, input_tokens_details: details, cost } = usage;
  const { cached_tokens: read, cache_write_tokens: written } = isJsonObject(details) ? details : {};
  const cacheRead = countOf(read);
  const cacheWrite = countOf(written);
  const input = countOf(all);
  return {
    input: input === undefined ? undefined : Math.max(0, input - (cacheRead ?? 0) - (cacheWrite ?? 0)),
    cacheRead,
    cacheWrite,
    output: countOf(output),
    ...(typeof cost === 'number' && { costUsd: cost }),
  };
};

const countOf = (value: Json | undefined): number | undefined => (typeof value === 'number' ? value : undefined);
