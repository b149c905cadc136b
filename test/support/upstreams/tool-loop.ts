import { isJsonObject, type JsonObject } from '../../../engine/model/json/json.ts';
import type { WorkerConnection } from '../processes/workers.ts';
import { jsonAnswer, type Script } from './upstream.ts';

/** What an upstream saw of the calls that came back to it. */
interface SeenCalls {
  /** Calls that came back with their own signature, and with none or another. */
  signed: number;
  unsigned: number;
}

const signatureOf = (number: number): string => `signature-of-call-${number}-${'x'.repeat(200)}`;

const partsOf = (body: unknown): readonly JsonObject[] => {
  const contents = isJsonObject(body) && Array.isArray(body.contents) ? body.contents : [];
  return contents.flatMap((content) => (isJsonObject(content) && Array.isArray(content.parts) ? content.parts : []));
};

/** An upstream that answers with one signed call after the other, and checks the newest that comes back. */
export const signingUpstream = (): { readonly script: Script; readonly seen: SeenCalls } => {
  const seen = { signed: 0, unsigned: 0 };
  const script: Script = ({ body }) => {
    const calls = partsOf(body).filter(({ functionCall }) => functionCall !== undefined);
    const newest = calls.at(-1);
    if (newest && newest.thoughtSignature === signatureOf(calls.length)) seen.signed += 1;
    else if (newest) seen.unsigned += 1;
    const part = {
      functionCall: { name: 'look_up', args: { number: calls.length + 1 } },
      thoughtSignature: signatureOf(calls.length + 1),
    };
    return jsonAnswer({
      candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }],
      usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 9, totalTokenCount: 18 },
      modelVersion: 'm',
      responseId: `r${calls.length + 1}`,
    });
  };
  return { script, seen };
};

/** A client of a protocol without a place for a call's signature, in the middle of a loop of tool calls. */
export class ToolLoop {
  readonly #messages: JsonObject[];

  constructor(task = 'Look it all up.') {
    this.#messages = [{ role: 'user', content: task }];
  }

  /** One round of the loop, over this connection: its status. */
  async round({ fetch }: Pick<WorkerConnection, 'fetch'>): Promise<number> {
    const { status, text } = await fetch('/v1/messages', {
      method: 'POST',
      body: {
        model: 'g,m',
        max_tokens: 99,
        tools: [{ name: 'look_up', input_schema: { type: 'object', properties: { number: { type: 'integer' } } } }],
        messages: this.#messages,
      },
    });
    if (status !== 200) throw new Error(text);
    const { content } = JSON.parse(text);
    const results = content
      .filter(({ type }: { type: string }) => type === 'tool_use')
      .map(({ id }: { id: string }) => ({ type: 'tool_result', tool_use_id: id, content: 'found' }));
    this.#messages.push({ role: 'assistant', content }, { role: 'user', content: results });
    return status;
  }
}
