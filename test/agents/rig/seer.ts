import { resolve } from 'node:path';
import { chatStream } from '../../support/upstreams/chat-stream.ts';
import { jsonAnswer, type Reaction, sseAnswer } from '../../support/upstreams/upstream.ts';

/** Who describes pictures: none of the models behind the gateway sees. */
export const seer = { name: 'seer', baseUrl: 'http://seer.example/v1', model: 'seer-1' } as const;

/** A picture that agents read, and what it shows. */
export const picture = resolve(import.meta.dirname, '../../../docs/screenshots/playground.png');
export const sight = 'a page of the playground';

/** The answer of a seer who wants a picture. */
export const seerAnswer = (text: string): Reaction =>
  text.includes('"image_url":{"url":"data:image/')
    ? sseAnswer(chatStream([sight], 0))
    : jsonAnswer({ error: { message: 'no picture' } }, 400);
