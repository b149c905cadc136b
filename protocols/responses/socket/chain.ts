import { createHash } from 'node:crypto';
import {
  isJsonObject,
  isWithinDepth,
  type Json,
  type JsonObject,
  parseJson,
  writeJson,
} from '../../../engine/model/json/json.ts';
import type { SocketChain } from '../../../engine/model/wire/upstream-socket.ts';
import type { CreateBody } from './create-body.ts';

/** The kept part of a request: the whole may be large. */
export type SentInput = Pick<SocketChain, 'model' | 'count' | 'digest'>;

/** The bytes of output that a connection remembers. More of it, and the next request is sent whole. */
const maxOutputBytes = 1 << 20;

/** Nesting of items that are compared. */
const maxDepth = 64;

/** Collects what a response adds to the conversation. */
export class ResponseItems {
  readonly #items: JsonObject[] = [];
  #bytes = 0;
  #isWhole = true;

  /** Takes the event `response.output_item.done`, as it came. */
  add(message: Buffer): void {
    this.#bytes += message.length;
    if (this.#bytes > maxOutputBytes) {
      this.#isWhole = false;
      this.#items.length = 0;
    }
    if (!this.#isWhole) return;
    const event = parseJson(message.toString());
    const item = isJsonObject(event) ? event.item : undefined;
    if (isJsonObject(item) && isWithinDepth(item, maxDepth)) this.#items.push(item);
    else this.#isWhole = false;
  }

  /** The chain after the event `response.completed`; `undefined` if it can't be continued. */
  chain(message: Buffer, sent: SentInput | undefined): SocketChain | undefined {
    if (!this.#isWhole || !sent || sent.count === 0) return undefined;
    const event = parseJson(message.toString());
    const response = isJsonObject(event) ? event.response : undefined;
    const responseId = isJsonObject(response) ? response.id : undefined;
    if (typeof responseId !== 'string' || responseId === '') return undefined;
    return { ...sent, responseId, output: this.#items };
  }
}

export const sentInputOf = ({ model, items }: CreateBody): SentInput => ({
  // A copy: a slice keeps the text of which it is one.
  model: Buffer.from(model).toString(),
  count: items.length,
  digest: digestOf(items, items.length),
});

/**
 * How many items of a request's input the connection has seen; `undefined` unless the input begins with exactly what went in, followed by exactly
 * what came out, and goes on. The model has to be the same: its reasoning is for no other.
 */
export const seenItems = ({ model, count, digest, output }: SocketChain, body: CreateBody): number | undefined => {
  const seen = count + output.length;
  if (body.items.length <= seen || body.model !== model) return undefined;
  const isOutput = output.every((item, index) => isReturned(parseJson(body.items[count + index] ?? ''), item));
  return isOutput && digestOf(body.items, count) === digest ? seen : undefined;
};

/** JSON text has no character 0. */
const digestOf = (items: readonly string[], count: number): string => {
  const digest = createHash('sha256');
  for (let at = 0; at < count; at += 1) digest.update(items[at] ?? '').update('\0');
  return digest.digest('base64');
};

/** Members that vendors add to an item for clients; models don't see them. */
const bookkeeping: ReadonlySet<string> = new Set(['id', 'status']);

/** Whether a client returns the item as it came. It may leave out what is empty, the bookkeeping, and the type of a message. */
const isReturned = (sent: Json | undefined, item: JsonObject): boolean =>
  isJsonObject(sent) &&
  namesOf(sent, item).every((name) => {
    const [given, own] = [sent[name], item[name]];
    if (given === undefined && name === 'type') return own === 'message';
    return ((given === undefined || own === undefined) && bookkeeping.has(name)) || isSame(given, own, name);
  });

const isSame = (sent: Json | undefined, own: Json | undefined, name: string): boolean => {
  if (sent === own || (isEmpty(sent) && isEmpty(own))) return true;
  if (Array.isArray(sent) && Array.isArray(own)) {
    return sent.length === own.length && sent.every((value, index) => isSame(value, own[index], ''));
  }
  if (isJsonObject(sent) && isJsonObject(own)) {
    return namesOf(sent, own).every((member) => isSame(sent[member], own[member], member));
  }
  return name === 'arguments' && typeof sent === 'string' && typeof own === 'string' && isSameJson(sent, own);
};

const namesOf = (one: JsonObject, other: JsonObject): readonly string[] => Object.keys({ ...one, ...other });

const isEmpty = (value: Json | undefined): boolean =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0);

/** Clients that get a call's arguments parsed return them with other spaces. */
const isSameJson = (one: string, other: string): boolean => {
  const [first, second] = [parseJson(one), parseJson(other)];
  return first !== undefined && second !== undefined && writeJson([first]) === writeJson([second]);
};
