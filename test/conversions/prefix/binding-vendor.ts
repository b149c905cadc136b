import { createHash } from 'node:crypto';
import { isJsonObject, type Json, type JsonObject } from '../../../engine/model/json/json.ts';
import { jsonAnswer, type Script } from '../../support/upstreams/upstream.ts';

const list = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);
const objects = (value: Json | undefined): readonly JsonObject[] => list(value).filter(isJsonObject);
const isThinking = ({ type }: JsonObject): boolean => type === 'thinking' || type === 'redacted_thinking';

/** What the vendor compares: values without cache marks, and without the thinking, which is compared by itself. */
const bare = (value: Json | undefined): Json | undefined => {
  if (Array.isArray(value))
    return value.filter((item) => !isJsonObject(item) || !isThinking(item)).map((item) => bare(item) ?? null);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => name !== 'cache_control')
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, member]) => [name, bare(member)]),
  );
};

/** Where thinking stands: what is before it, and the payload before it. */
const bindingOf = (system: Json | undefined, tools: Json | undefined, before: readonly Json[]): string =>
  createHash('sha256')
    .update(JSON.stringify([bare(system ?? []), bare(tools ?? []), before.map(bare)]))
    .digest('base64url')
    .slice(0, 20);

/** Thinking blocks of a request, each with the binding that it must have. */
const placed = (body: JsonObject): readonly { readonly signature: string; readonly binding: string }[] => {
  const messages = objects(body.messages);
  return messages.flatMap((message, index) =>
    objects(message.content)
      .filter(isThinking)
      .map((block) => ({
        signature: String(block.signature ?? block.data),
        binding: bindingOf(body.system, body.tools, messages.slice(0, index)),
      })),
  );
};

/** A vendor that binds thinking to all that stands before it, as Anthropic's newest models do. */
export interface BindingVendor {
  readonly script: Script;
  /** The numbers of the thinking blocks that came back, by request. */
  readonly seen: (readonly number[])[];
  /** The number of refused requests. */
  readonly refused: () => number;
}

/** `says`: what the model does in its answer of this number, counted from 1: some text, or a call. */
export const bindingVendor = (says: (number: number) => 'text' | 'call'): BindingVendor => {
  const seen: number[][] = [];
  const previous = new Map<string, string | undefined>();
  let issued = 0;
  let refused = 0;
  const script: Script = ({ body: raw }) => {
    const body = isJsonObject(raw) ? raw : {};
    const blocks = placed(body);
    seen.push(blocks.map(({ signature }) => Number(/^sig-(\d+)-/.exec(signature)?.[1])));
    const fault = blocks.some(
      ({ signature, binding }, index) =>
        !signature.endsWith(binding) || (index > 0 && previous.get(signature) !== blocks[index - 1]?.signature),
    );
    if (fault) {
      refused += 1;
      return jsonAnswer(
        {
          type: 'error',
          error: {
            type: 'invalid_request_error',
            message:
              'messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".',
          },
        },
        400,
      );
    }
    issued += 1;
    const signature = `sig-${issued}-${bindingOf(body.system, body.tools, list(body.messages))}`;
    previous.set(signature, blocks.at(-1)?.signature);
    const act =
      says(issued) === 'call'
        ? { type: 'tool_use', id: `toolu_${issued}`, name: 'f', input: { n: issued } }
        : { type: 'text', text: `Answer ${issued}.` };
    return jsonAnswer({
      id: `msg_${issued}`,
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [{ type: 'thinking', thinking: `Thought ${issued}.`, signature }, act],
      stop_reason: act.type === 'tool_use' ? 'tool_use' : 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    });
  };
  return { script, seen, refused: () => refused };
};
