import { CustomInput } from './custom-input.ts';
import { callIdOf, callItem, type ItemStatus, itemId } from './output-item.ts';
import { type DeltaTemplate, deltaTemplate, type Members, members, type StreamWriter } from './stream-writer.ts';
import type { CalledTool } from './tool-names.ts';

/** Writes a tool call. A custom tool's input reaches the client as the plain text inside the model's JSON. */
export class CallWriter {
  readonly #stream: StreamWriter;
  readonly #tool: CalledTool;
  readonly #id: string;
  readonly #callId: string;
  readonly #place: Members;
  readonly #delta: DeltaTemplate;
  readonly #custom: CustomInput | undefined;
  readonly #pieces: string[] = [];

  constructor(stream: StreamWriter, contextId: string, callId: string, tool: CalledTool, out: string[]) {
    const index = stream.nextIndex;
    const custom = tool.kind === 'custom';
    this.#stream = stream;
    this.#tool = tool;
    this.#id = itemId(custom ? 'ctc' : 'fc', contextId, index);
    this.#callId = callIdOf(callId, contextId, index);
    this.#place = members({ item_id: this.#id, output_index: index });
    this.#delta = deltaTemplate(
      custom ? 'response.custom_tool_call_input.delta' : 'response.function_call_arguments.delta',
      this.#place,
    );
    this.#custom = custom ? new CustomInput() : undefined;
    stream.itemAdded(out, this.#item('in_progress', ''));
  }

  input(json: string, out: string[]): void {
    this.#write(this.#custom ? this.#custom.push(json) : json, out);
  }

  stopBlock(out: string[]): void {
    if (this.#custom) this.#write(this.#custom.end(), out);
    else if (this.#pieces.length === 0) this.#write('{}', out);
    const input = this.#pieces.join('');
    if (this.#custom) {
      this.#stream.event(out, 'response.custom_tool_call_input.done', `${this.#place},${members({ input })}`);
    } else {
      const done = members({ name: this.#tool.name, arguments: input });
      this.#stream.event(out, 'response.function_call_arguments.done', `${this.#place},${done}`);
    }
  }

  finish(status: ItemStatus, out: string[]): void {
    this.#stream.itemDone(out, this.#item(status, this.#pieces.join('')));
  }

  #write(piece: string, out: string[]): void {
    if (piece === '') return;
    this.#pieces.push(piece);
    this.#stream.delta(out, this.#delta, piece);
  }

  #item(status: ItemStatus, input: string): object {
    return callItem(this.#id, status, this.#callId, this.#tool, input);
  }
}
