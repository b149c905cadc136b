const zero = 0x30;
const one = 0x31;
const three = 0x33;
const carriageReturn = 0x0d;
const lineFeed = 0x0a;

/** The offset of the status in `HTTP/1.1 100 Continue`. */
const statusAt = 9;

/**
 * Changes an interim status 100 to 103 before undici sees it. Both mean "wait", but undici 7.30.2 closes the connection at an
 * unsolicited 100. Works on the head of one response, in pieces of any size.
 * Source: RFC 9110, section 15.2 (clients must accept unsolicited interim responses).
 */
export class ContinueFilter {
  #state: 'status' | 'head' | 'done' = 'status';
  /** Bytes of the status line so far, up to its status. */
  #at = 0;
  #tens = 0;
  /** Bytes of the current line of an interim head, without its end. */
  #lineBytes = 0;

  /** Reads the next piece and may change it in place. */
  pass(piece: Uint8Array): void {
    for (let index = 0; this.#state !== 'done' && index < piece.length; index += 1) {
      const byte = piece[index] ?? 0;
      if (this.#state === 'head') this.#inHead(byte);
      else if (this.#isContinue(byte)) piece[index] = three;
    }
  }

  /** Reads a byte of the status line; returns whether it is the last digit of a 100. */
  #isContinue(byte: number): boolean {
    const at = this.#at - statusAt;
    this.#at += 1;
    if (at === 0 && byte !== one) this.#state = 'done';
    if (at === 1) this.#tens = byte;
    if (at !== 2) return false;
    this.#state = 'head';
    this.#lineBytes = this.#at;
    return this.#tens === zero && byte === zero;
  }

  /** Reads a byte of an interim head; another head follows after its empty line. */
  #inHead(byte: number): void {
    if (byte === lineFeed && this.#lineBytes === 0) {
      this.#state = 'status';
      this.#at = 0;
    } else if (byte === lineFeed) this.#lineBytes = 0;
    else if (byte !== carriageReturn) this.#lineBytes += 1;
  }
}
