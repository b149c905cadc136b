import { request } from 'node:http';
import { Conversation } from '../load/conversation.ts';
import { askedModel, pathOf, type Wire } from '../wire.ts';

/** Posts one small request; resolves when it was answered with 200, rejects when it wasn't. */
export const firstAnswer = (
  baseUrl: string,
  wire: Wire,
  headers: Readonly<Record<string, string>> = {},
): Promise<void> =>
  new Promise((resolve, reject) => {
    const { pieces } = new Conversation({
      wire,
      streamed: false,
      bytes: 1_400,
      model: askedModel,
      maxTokens: 4096,
    }).next();
    const asking = request(
      `${baseUrl}${pathOf(wire, false)}`,
      { method: 'POST', headers: { 'content-type': 'application/json', ...headers } },
      (answer) => {
        answer.resume();
        answer.once('end', () =>
          answer.statusCode === 200 ? resolve() : reject(new Error(`status ${answer.statusCode}`)),
        );
      },
    );
    asking.once('error', reject);
    asking.end(Buffer.concat(pieces));
  });
