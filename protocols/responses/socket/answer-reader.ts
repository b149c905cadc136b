import { isJsonSpace, parseJson } from '../../../engine/model/json/json.ts';
import { memberBytes, memberNamed, membersIn } from '../../../engine/model/json/members.ts';
import type { SocketAnswerReader } from '../../../engine/model/wire/socket-protocol.ts';
import { recordType } from '../../../engine/model/wire/sse.ts';

/** The longest type of an event, and what may stand before it. */
const headLength = 200;

/** Reads the items of one answer as the client gets them. Only the records of whole items and the terminal one are looked into. */
export class AnswerReader implements SocketAnswerReader {
  readonly #reserve: (bytes: number) => boolean;
  /** `undefined`: they are more than may be held, or not all are known. */
  #items: Buffer[] | undefined = [];
  #result: { readonly id: string; readonly items: Buffer | undefined } | undefined;

  /** `mayHold`: reserves memory for further bytes; false if the budget is exhausted. */
  constructor(mayHold: (bytes: number) => boolean) {
    this.#reserve = mayHold;
  }

  read(event: string, data: string | Buffer): void {
    switch (event === '' ? typeIn(data) : event) {
      case 'response.output_item.done': {
        const item = this.#items && memberOf(bytesOf(data), 'item');
        // An item that can't be read is missing: the client has to send the conversation.
        if (item) this.#add(item);
        else this.#items = undefined;
        break;
      }
      case 'response.completed':
      case 'response.incomplete':
        this.#end(bytesOf(data));
    }
  }

  result(): { readonly id: string; readonly items: Buffer | undefined } | undefined {
    return this.#result;
  }

  #end(data: Buffer): void {
    const response = memberOf(data, 'response');
    const id = response && memberOf(response, 'id');
    const name = id && parseJson(id.toString());
    if (!response || typeof name !== 'string') return;
    if (this.#items?.length === 0) {
      // Some servers send no events of items.
      const output = memberOf(response, 'output')?.subarray(1, -1);
      if (output && !output.every(isJsonSpace)) this.#add(output);
    }
    this.#result = { id: name, items: this.#items && Buffer.concat(this.#items) };
  }

  #add(item: Buffer): void {
    if (!this.#reserve(item.length)) this.#items = undefined;
    if (this.#items && this.#items.length > 0) this.#items.push(separator);
    this.#items?.push(item);
  }
}

const separator = Buffer.from(',');

const memberOf = (bytes: Buffer, name: string): Buffer | undefined => {
  const member = memberNamed(membersIn(bytes) ?? [], name);
  return member && memberBytes(bytes, member);
};

const bytesOf = (data: string | Buffer): Buffer => (typeof data === 'string' ? Buffer.from(data) : Buffer.from(data));

const typeIn = (data: string | Buffer): string | undefined =>
  recordType({
    event: '',
    data: typeof data === 'string' ? data.slice(0, headLength) : data.toString('latin1', 0, headLength),
  });
