import type { ModelEvent } from '../../engine/model/event.ts';
import { isJsonObject, parseJson } from '../../engine/model/json.ts';
import { type Answer, closeBlock, failAnswer, openBlock } from './answer.ts';
import type { WireCall } from './schema-reply.ts';

/**
 * The calls of an answer, in the order in which they began. Blocks can't overlap, so the first call that isn't over streams
 * live, and the fragments of those behind it wait.
 */
export interface Calls {
  readonly all: Call[];
  /** How many are over; the next one is the live one. */
  closed: number;
}

interface Call {
  /** The wire's `index`; `undefined` where the server gives none. */
  readonly index: number | undefined;
  id: string;
  name: string;
  /** A custom tool's call: its pieces are free text, not JSON. */
  readonly custom: boolean;
  readonly pieces: string[];
  /** How many pieces have gone out. */
  sent: number;
  open: boolean;
  /** Its block has stopped. */
  over: boolean;
}

/** A fragment of a call, or a whole one. */
export const readCall = (answer: Answer, wire: WireCall, out: ModelEvent[]): void => {
  if (answer.done) return;
  const { calls } = answer;
  const body = wire.custom ?? wire.function;
  const piece = pieceOf(wire);
  let call = findCall(calls.all, wire, body?.name ?? '');
  if (!call) {
    call = {
      index: wire.index ?? undefined,
      id: wire.id ?? '',
      name: body?.name ?? '',
      custom: wire.type === 'custom' || (wire.custom !== undefined && wire.custom !== null),
      pieces: [],
      sent: 0,
      open: false,
      over: false,
    };
    // One that is complete gives way, so that calls which come one after the other all stream live.
    while (isComplete(calls.all[calls.closed])) closeFirst(answer, out);
    calls.all.push(call);
  }
  // Some servers repeat id and name in each fragment; some give them late.
  if (call.id === '') call.id = wire.id ?? '';
  if (call.name === '') call.name = body?.name ?? '';
  if (piece !== '') {
    if (call.over) {
      if (piece.trim() !== '') failAnswer(answer, brokenCall(call.name), out);
      return;
    }
    call.pieces.push(piece);
  }
  if (call === calls.all[calls.closed] && call.id !== '' && call.name !== '') stream(answer, call, out);
};

/** Ends all calls: what waits goes out as whole blocks. */
export const closeCalls = (answer: Answer, out: ModelEvent[]): void => {
  while (answer.calls.closed < answer.calls.all.length && !answer.done) closeFirst(answer, out);
};

const pieceOf = (wire: WireCall): string => {
  if (wire.custom) return wire.custom.input ?? '';
  const given = wire.function?.arguments ?? '';
  return typeof given === 'string' ? given : JSON.stringify(given);
};

/**
 * The call that a fragment belongs to; `undefined` for a new one. The index is the key, but some servers give none, and some
 * give all calls the same one: then a new id that comes with a name begins a new call.
 */
const findCall = (all: readonly Call[], wire: WireCall, name: string): Call | undefined => {
  const id = wire.id ?? '';
  const last = all.at(-1);
  if (wire.index === undefined || wire.index === null) {
    if (id !== '') return all.findLast((call) => call.id === id) ?? (last?.id === '' && name === '' ? last : undefined);
    return name !== '' && isComplete(last) ? undefined : last;
  }
  const known = all.findLast((call) => call.index === wire.index && (id === '' || call.id === id));
  if (known) return known;
  const sameIndex = all.findLast((call) => call.index === wire.index);
  return sameIndex && (sameIndex.id === '' || name === '') ? sameIndex : undefined;
};

/** Whether no fragment can follow: the arguments are whole JSON. */
const isComplete = (call: Call | undefined): boolean => {
  if (!call || call.custom || call.name === '' || call.pieces.length === 0) return false;
  return isJsonObject(parseJson(call.pieces.join('')));
};

/** Sends what the live call has, once its name and id are known. */
const stream = (answer: Answer, call: Call, out: ModelEvent[]): void => {
  if (!call.open) {
    call.open = true;
    openBlock(answer, { type: 'tool-call', id: call.id, name: answer.context.names.model(call.name) }, out);
    if (call.custom) out.push({ type: 'input-delta', index: answer.blocks - 1, json: '{"input":"' });
  }
  for (; call.sent < call.pieces.length; call.sent += 1) {
    const piece = call.pieces[call.sent] ?? '';
    const json = call.custom ? JSON.stringify(piece).slice(1, -1) : piece;
    out.push({ type: 'input-delta', index: answer.blocks - 1, json });
  }
};

const closeFirst = (answer: Answer, out: ModelEvent[]): void => {
  const { calls } = answer;
  const call = calls.all[calls.closed];
  if (!call) return;
  if (call.name === '') {
    failAnswer(answer, namelessCall, out);
    return;
  }
  if (call.id === '') call.id = `call_${answer.context.id}${calls.closed}`;
  stream(answer, call, out);
  if (call.custom) out.push({ type: 'input-delta', index: answer.blocks - 1, json: '"}' });
  call.over = true;
  calls.closed += 1;
  closeBlock(answer, out);
};

const namelessCall = {
  kind: 'upstream-garbled',
  message: 'The upstream sent a tool call without a name.',
} as const;

const brokenCall = (name: string) =>
  ({
    kind: 'upstream-garbled',
    message: `The upstream went on with the tool call ${name} after other content had followed it.`,
  }) as const;
