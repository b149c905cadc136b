import { boundBlocks, type ModelEvent } from '../../../engine/model/event.ts';
import { writeJson } from '../../../engine/model/json/json.ts';
import { otherMembers, signatureOfMembers } from '../reasoning-details.ts';
import type { WireCall } from '../schema-reply.ts';
import { ObjectEnd } from './object-end.ts';
import { type Call, type Calls, closeBlock, failReply, openBlock, type ReplyState } from './reply-state.ts';

/** Reads a fragment of a call, or a whole call. */
export const readCall = (state: ReplyState, wire: WireCall, out: ModelEvent[]): void => {
  if (state.done) return;
  const { calls } = state;
  const body = wire.custom ?? wire.function;
  const piece = pieceOf(wire);
  let call = findCall(calls, wire, body?.name ?? '');
  if (!call) {
    // They wait while an earlier one is open.
    boundBlocks(calls.all.length);
    call = {
      place: calls.all.length,
      index: wire.index ?? undefined,
      id: wire.id ?? '',
      name: body?.name ?? '',
      custom: wire.type === 'custom' || (wire.custom !== undefined && wire.custom !== null),
      members: undefined,
      pieces: [],
      end: new ObjectEnd(),
      sent: 0,
      open: false,
      isClosed: false,
    };
    // A complete call is closed, so that sequential calls all stream live.
    while (isComplete(calls.all[calls.closed])) closeFirst(state, out);
    calls.all.push(call);
    addKeys(calls, call);
  }
  // Some servers repeat id and name in each fragment; some send them late.
  if (call.id === '' && wire.id) {
    call.id = wire.id;
    addKeys(calls, call);
  }
  if (call.name === '') call.name = body?.name ?? '';
  keepMembers(state, call, wire);
  if (piece !== '') {
    if (call.isClosed) {
      if (piece.trim() !== '') failReply(state, brokenCall(call.name), out);
      return;
    }
    call.pieces.push(piece);
  }
  if (call === calls.all[calls.closed] && call.id !== '' && call.name !== '') stream(state, call, out);
};

/** Ends all calls: waiting ones are written as whole blocks. */
export const closeCalls = (state: ReplyState, out: ModelEvent[]): void => {
  while (state.calls.closed < state.calls.all.length && !state.done) closeFirst(state, out);
};

/** Keeps what this format doesn't know. The block's start carries it, so what follows later is a loss. */
const keepMembers = (state: ReplyState, call: Call, wire: WireCall): void => {
  const members = otherMembers(wire);
  if (!members) return;
  if (!call.open) call.members = { ...call.members, ...members };
  else for (const name in members) if (!call.members?.[name]) state.context.losses.drop(`reply.tool_calls.${name}`);
};

const pieceOf = (wire: WireCall): string => {
  if (wire.custom) return wire.custom.input ?? '';
  const given = wire.function?.arguments ?? '';
  return typeof given === 'string' ? given : writeJson(given);
};

/**
 * The call that a fragment continues; `undefined` for a new one. The index is the key, but some servers send none or
 * the same for all calls: then a new id with a name starts a new call. Some continue a call under the next index: what has neither
 * id nor name there belongs to the last call, unless that one is complete.
 */
const findCall = ({ all, byKey }: Calls, wire: WireCall, name: string): Call | undefined => {
  const id = wire.id ?? '';
  const last = all.at(-1);
  if (wire.index === undefined || wire.index === null) {
    if (id !== '') return byKey?.get(idKey(id)) ?? (last?.id === '' && name === '' ? last : undefined);
    return name !== '' && isComplete(last) ? undefined : last;
  }
  const sameIndex = byKey?.get(indexKey(wire.index));
  if (id === '') return sameIndex ?? (name === '' ? incomplete(last) : undefined);
  const known = byKey?.get(bothKey(wire.index, id));
  if (known) return known;
  return sameIndex && (sameIndex.id === '' || name === '') ? sameIndex : undefined;
};

/** The call, if fragments of it may follow. */
const incomplete = (call: Call | undefined): Call | undefined => (call && !isComplete(call) ? call : undefined);

const idKey = (id: string): string => `id ${id}`;
const indexKey = (index: number): string => `index ${index}`;
const bothKey = (index: number, id: string): string => `both ${index} ${id}`;

/** Registers the call's keys, unless a later call has them. */
const addKeys = (calls: Calls, call: Call): void => {
  calls.byKey ??= new Map();
  const { byKey } = calls;
  const add = (key: string): void => {
    const other = byKey.get(key);
    if (!other || other.place <= call.place) byKey.set(key, call);
  };
  if (call.index !== undefined) add(indexKey(call.index));
  if (call.id === '') return;
  add(idKey(call.id));
  if (call.index !== undefined) add(bothKey(call.index, call.id));
};

/** Whether no fragment can follow: the arguments are complete JSON. */
const isComplete = (call: Call | undefined): boolean => {
  if (!call || call.custom || call.name === '' || call.pieces.length === 0) return false;
  return call.end.isWhole(call.pieces);
};

/** Sends the live call's pieces, once its name and id are known. */
const stream = (state: ReplyState, call: Call, out: ModelEvent[]): void => {
  if (!call.open) {
    call.open = true;
    const { names } = state.context;
    const block = { type: 'tool-call', id: names.callIds.client(call.id), name: names.model(call.name) } as const;
    openBlock(state, call.members ? { ...block, signature: signatureOfMembers(call.members) } : block, out);
    if (call.custom) out.push({ type: 'input-delta', index: state.blocks - 1, json: '{"input":"' });
  }
  for (; call.sent < call.pieces.length; call.sent += 1) {
    const piece = call.pieces[call.sent] ?? '';
    const json = call.custom ? JSON.stringify(piece).slice(1, -1) : piece;
    out.push({ type: 'input-delta', index: state.blocks - 1, json });
  }
};

/** Whether the arguments of all calls are complete. */
export const areWhole = ({ all }: Calls): boolean => all.every((call) => call.custom || isComplete(call));

const closeFirst = (state: ReplyState, out: ModelEvent[]): void => {
  const { calls } = state;
  const call = calls.all[calls.closed];
  if (!call) return;
  if (call.name === '') {
    failReply(state, namelessCall, out);
    return;
  }
  if (call.id === '') call.id = `call_${state.context.id}${calls.closed}`;
  stream(state, call, out);
  if (call.custom) out.push({ type: 'input-delta', index: state.blocks - 1, json: '"}' });
  call.isClosed = true;
  calls.closed += 1;
  closeBlock(state, out);
};

const namelessCall = {
  kind: 'upstream-garbled',
  message: 'The upstream sent a tool call without a name.',
} as const;

const brokenCall = (name: string) =>
  ({
    kind: 'upstream-garbled',
    message: `The upstream continued the tool call ${name} after other content.`,
  }) as const;
