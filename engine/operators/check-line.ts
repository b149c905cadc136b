import type { Routed } from '../exchange.ts';
import { FaultError, fail } from '../model/fault.ts';

/** Throws the fault of a line that can't be used, and `unsupported` for what only another line could carry. */
export const checkLine =
  () =>
  (routed: Routed): Routed => {
    const { line, client } = routed;
    if (line.fault) throw new FaultError(line.fault);
    if (line.upstream.wire !== client.wire) refuseOwnWireFields(routed);
    return routed;
  };

/** State kept by one vendor means nothing to another: going on without it would give a wrong answer unnoticed. */
const refuseOwnWireFields = ({ client, asked }: Routed): void => {
  const field = client.ownWireField?.(asked);
  if (field === undefined) return;
  fail(
    'unsupported',
    `${field} needs an upstream that speaks the ${client.wire} format itself; this route's doesn't.`,
    {
      param: field,
      code: 'unsupported_parameter',
    },
  );
};
