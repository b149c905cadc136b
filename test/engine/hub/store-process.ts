import { type FromWorker, fromWorker } from '../../../engine/service/workers/ipc-messages.ts';
import { joinWorker } from '../../../engine/service/workers/ipc-peers.ts';
import { PeerExchange } from '../../../engine/service/workers/peers.ts';

/** A message of one of several members, which share a channel. */
interface Tagged {
  readonly member: number;
  /** Absent: the member's channel is closed. */
  readonly message?: unknown;
}

const exchange = new PeerExchange();
const members = new Map<number, ReturnType<typeof joinWorker>>();

process.on('message', ({ member, message }: Tagged) => {
  const joined = members.get(member) ?? joinWorker(exchange, (answer) => process.send?.({ member, message: answer }));
  members.set(member, joined);
  if (message === undefined) joined.leave();
  else if (fromWorker.matches(message)) joined.receive(message satisfies FromWorker);
  else process.send?.({ member, refused: message });
});
process.send?.({ member: 0, ready: true });
