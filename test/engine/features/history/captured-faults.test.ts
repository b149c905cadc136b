import { readdirSync, readFileSync } from 'node:fs';
import test from 'ava';
import { chunkBytes } from '../../../../engine/features/history/capture-file.ts';
import { compareReplies } from '../../../../engine/features/history/compare-replies.ts';
import { judgeReplay } from '../../../../engine/features/history/judge-replay.ts';
import { testStage } from '../../../../engine/testing-api.ts';
import { mapText, transformer } from '../../../../engine/transformer-api.ts';
import { clientProtocols } from '../../../../protocols/index.ts';
import { replayFile } from '../../../support/replays.ts';

/*
 * Faults that were met once, as files of `junctor captures export`: the client's body, what the provider got, what it answered, and what
 * the client must get of it. A file more in the folder is a case more.
 */
const folder = new URL('../../../fixtures/captures/', import.meta.url);

/** Passes each text on. */
const plain = transformer({ name: 'plain', operators: () => ({ events: mapText((text) => text) }) });

for (const name of readdirSync(folder).filter((file) => file.endsWith('.json'))) {
  const text = readFileSync(new URL(name, folder), 'utf8');

  test(`replayed as it was: ${name.replace('.json', '')}`, async (t) => {
    const { captured, sent, reply, plan, client, answer } = await replayFile(text);
    const { upstream, reply: was } = captured.capture;
    t.deepEqual(JSON.parse(sent.body), JSON.parse(upstream?.body ?? ''), 'what the provider gets');
    t.deepEqual(Object.keys(sent.headers).sort(), Object.keys(upstream?.headers ?? {}).sort());
    t.is(reply.status, was.status);
    const compared = compareReplies(Buffer.concat(was.chunks.map(chunkBytes)).toString(), reply.text);
    t.true(compared.isSame, JSON.stringify(compared));
    t.deepEqual(judgeReplay(plan, client, answer, reply.text).client, []);
  });

  test(`for each client, and with a stage: ${name.replace('.json', '')}`, async (t) => {
    for (const { protocol } of clientProtocols) {
      const { plan, client, answer, reply } = await replayFile(text, protocol.wire);
      t.deepEqual(judgeReplay(plan, client, answer, reply.text).client, [], `${protocol.wire}: ${reply.text}`);
    }
    const { captured } = await replayFile(text);
    const { fault } = await testStage({ stage: plain, capture: JSON.parse(text) });
    const replied = Buffer.concat(captured.capture.reply.chunks.map(chunkBytes)).toString();
    t.is(
      fault !== undefined,
      /"type":"error"|"error":\{/.test(replied),
      'an error for the stage is one for the client',
    );
  });
}
