/** How much of a stream is held back while it shows no sign of reasoning. */
const mostHeldBytes = 64 << 10;

/**
 * Passes chunks on once one of them holds `sign`, those before it first; what comes later follows at once. A stream that has
 * gone on for long without it is let go: reasoning comes before all else. Without a sign everything passes.
 */
export const awaitSign = (
  sign: string | undefined,
  pass: (chunk: Uint8Array) => void,
): ((chunk: Uint8Array) => void) => {
  if (sign === undefined) return pass;
  const needle = Buffer.from(sign);
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  let found = false;
  let tail: Uint8Array = new Uint8Array(0);
  return (chunk) => {
    if (found) return pass(chunk);
    if (heldBytes > mostHeldBytes) return;
    held.push(chunk);
    heldBytes += chunk.length;
    const seam = Buffer.concat([tail, chunk.subarray(0, needle.length)]);
    found = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).includes(needle) || seam.includes(needle);
    tail = Buffer.concat([tail, chunk.subarray(-needle.length)]).subarray(-needle.length);
    if (found) for (const one of held) pass(one);
    if (found || heldBytes > mostHeldBytes) held = [];
  };
};
