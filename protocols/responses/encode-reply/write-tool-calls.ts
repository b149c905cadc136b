import type { SseRecord } from '../../../engine/model/wire/sse-record.ts';
import type { CalledTool } from '../tool-names.ts';
import { CustomInput } from './custom-input.ts';
import { callIdOf, callItem, callPrefix, type ItemStatus, itemId } from './output-item.ts';
import { type DeltaTemplate, deltaTemplate, type Members, members, type StreamWriter } from './stream-writer.ts';

/** The events that carry a call's input in pieces. A built-in tool's call has none: its item holds an object. */
const inputEvents = {
  function: 'response.function_call_arguments',
  custom: 'response.custom_tool_call_input',
} as const;

/**
 * Writes a tool call. A custom tool's input reaches the client as the plain text inside the model's JSON. A built-in tool's item
 * is written once its input is complete.
 */
export class CallWriter {
  readonly #stream: StreamWriter;
  readonly #tool: CalledTool;
  readonly #id: string;
  readonly #callId: string;
  readonly #place: Members;
  readonly #delta: DeltaTemplate | undefined;
  readonly #custom: CustomInput | undefined;
  readonly #pieces: string[] = [];

  constructor(stream: StreamWriter, contextId: string, callId: string, tool: CalledTool, out: SseRecord[]) {
    const index = stream.nextIndex;
    const { kind } = tool;
    this.#stream = stream;
    this.#tool = tool;
    this.#id = itemId(callPrefix(tool), contextId, index);
    this.#callId = callIdOf(callId, contextId, index);
    this.#place = members({ item_id: this.#id, output_index: index });
    this.#custom = kind === 'custom' ? new CustomInput() : undefined;
    if (kind !== 'function' && kind !== 'custom') return;
    this.#delta = deltaTemplate(`${inputEvents[kind]}.delta`, this.#place);
    stream.itemAdded(out, this.#item('in_progress', ''));
  }

  input(json: string, out: SseRecord[]): void {
    this.#write(this.#custom ? this.#custom.push(json) : json, out);
  }

  stopBlock(out: SseRecord[]): void {
    const { kind, name } = this.#tool;
    if (this.#custom) this.#write(this.#custom.end(), out);
    else if (this.#pieces.length === 0) this.#write('{}', out);
    const input = this.#pieces.join('');
    switch (kind) {
      case 'custom':
        this.#stream.event(out, `${inputEvents.custom}.done`, `${this.#place},${members({ input })}`);
        break;
      case 'function': {
        const done = members({ name, arguments: input });
        this.#stream.event(out, `${inputEvents.function}.done`, `${this.#place},${done}`);
        break;
      }
      default:
        this.#stream.itemAdded(out, this.#item('in_progress', input));
    }
  }

  finish(status: ItemStatus, out: SseRecord[]): void {
    this.#stream.itemDone(out, this.#item(status, this.#pieces.join('')));
  }

  #write(piece: string, out: SseRecord[]): void {
    if (piece === '') return;
    this.#pieces.push(piece);
    if (this.#delta) this.#stream.delta(out, this.#delta, piece);
  }

  #item(status: ItemStatus, input: string): object {
    return callItem(this.#id, status, this.#callId, this.#tool, input);
  }
}
