import { request } from 'node:http';

/** A question to a program on this machine. */
interface Question {
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The time for the whole answer, in milliseconds. */
  readonly limitMs: number;
  /** The longest answer, in bytes. */
  readonly maxBytes?: number;
}

interface DirectAnswer {
  readonly status: number;
  readonly text: string;
}

/**
 * Asks a program on this machine, or another address of the service itself, over a connection of its own. It goes past every proxy:
 * with `NODE_USE_ENV_PROXY`, `fetch` and Node.js' shared agent send even these questions to the proxy of `HTTP_PROXY`. Follows no
 * redirect. Rejects on connection errors, timeouts and answers that are too long.
 */
export const askDirectly = (
  url: string,
  { method = 'GET', headers = {}, body, limitMs, maxBytes = Number.POSITIVE_INFINITY }: Question,
): Promise<DirectAnswer> =>
  new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(limitMs);
    // `false`: an agent with default options, of which the proxy's are none.
    const asked = request(url, { method, headers, agent: false, signal }, (answer) => {
      const pieces: Buffer[] = [];
      let bytes = 0;
      answer.on('data', (piece: Buffer) => {
        pieces.push(piece);
        bytes += piece.length;
        if (bytes > maxBytes) answer.destroy(new RangeError('The answer is too long.'));
      });
      answer.once('end', () => resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(pieces).toString() }));
      answer.once('error', reject);
    });
    asked.once('error', reject);
    asked.end(body);
  });
