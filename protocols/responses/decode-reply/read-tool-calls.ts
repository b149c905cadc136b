import type { ReplyContext } from '../../../engine/model/context.ts';
import type { ModelEvent } from '../../../engine/model/event.ts';
import { isJsonObject, writeJson } from '../../../engine/model/json/json.ts';
import { lenientReader } from '../../../engine/model/schema.ts';
import { ReplyCall, type StreamEvent } from '../schema-reply.ts';
import { namespacedTool } from '../tool-names.ts';
import { type BlockQueue, type ItemReader, ReplyItem } from './reply-item.ts';

export const callReader = lenientReader(ReplyCall);

/** Reads a `function_call` or `custom_tool_call`; the latter's text is wrapped as `{"input":"…"}`. */
export class CallReader implements ItemReader {
  readonly #item: ReplyItem;
  readonly #context: ReplyContext;
  readonly #custom: boolean;
  readonly #outputIndex: number;
  /** No event named the tool. */
  nameless = true;
  /** UTF-16 units of the input read. */
  #length = 0;

  constructor(line: BlockQueue, context: ReplyContext, outputIndex: number, item: object, out: ModelEvent[]) {
    this.#item = new ReplyItem(line);
    this.#context = context;
    this.#outputIndex = outputIndex;
    this.#custom = 'type' in item && item.type === 'custom_tool_call';
    this.#start(item, out);
  }

  read(type: string, event: StreamEvent, out: ModelEvent[]): void {
    switch (type) {
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta':
        this.#input(event.delta ?? '', out);
        break;
      case 'response.function_call_arguments.done':
        this.#rest(event.arguments ?? '', out);
        break;
      case 'response.custom_tool_call_input.done':
        this.#rest(event.input ?? '', out);
        break;
    }
  }

  finish(item: object | undefined, out: ModelEvent[]): void {
    const call = callReader.readable(item);
    if (call) {
      // Some providers send the name only here; nothing was written before.
      if (!this.#item.isOpen) this.#start(call, out);
      this.#rest((this.#custom ? call.input : argumentsText(call)) ?? '', out);
    }
    if (this.#custom && this.#item.isOpen) this.#item.input(this.#length === 0 ? '{"input":""}' : '"}', out);
    this.#item.end(out);
  }

  #start(given: object, out: ModelEvent[]): void {
    const item = callReader.readable(given);
    if (!item?.name) return;
    this.nameless = false;
    const id = item.call_id || item.id || `call_${this.#context.id}${this.#outputIndex.toString(16).padStart(4, '0')}`;
    const { request, names } = this.#context;
    const name = (item.namespace && namespacedTool(request, item.namespace, item.name)) || names.model(item.name);
    this.#item.start({ type: 'tool-call', id: names.callIds.client(id), name }, out);
  }

  #rest(whole: string, out: ModelEvent[]): void {
    this.#input(whole.slice(this.#length), out);
  }

  #input(piece: string, out: ModelEvent[]): void {
    if (piece === '' || !this.#item.isOpen) return;
    const first = this.#length === 0;
    this.#length += piece.length;
    if (this.#custom) this.#item.input(`${first ? '{"input":"' : ''}${JSON.stringify(piece).slice(1, -1)}`, out);
    else this.#item.input(piece, out);
  }
}

/** Compatible servers may send the arguments as an object. */
const argumentsText = ({ arguments: given }: ReplyCall): string | null | undefined =>
  isJsonObject(given) ? writeJson(given) : given;
