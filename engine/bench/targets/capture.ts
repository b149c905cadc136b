import { readFile } from 'node:fs/promises';
import { findProvider } from '../../config/sections/destination.ts';
import { chunkBytes, readCaptureFile } from '../../features/history/capture-file.ts';
import { readReplayable } from '../../features/history/replay.ts';
import type { LaneGroup } from '../lane.ts';
import { streamedAnswer } from '../upstream/plan.ts';
import { askedModel, clientWires, wireAt } from '../wire.ts';
import type { Configured } from './configured.ts';

/**
 * The load of a capture: its request, again and again, and the provider's answer with its bytes and their times. Rejects with the reason for
 * users if it can't be used, or if the configuration lacks the provider that answered.
 */
export const captureLanes = async (file: string, configured: Configured | undefined): Promise<readonly LaneGroup[]> => {
  const text = await readFile(file, 'utf8').catch(() => {
    throw new Error(`Cannot read ${file}.`);
  });
  const read = readCaptureFile(text);
  if (typeof read === 'string') throw new Error(`Cannot use ${file}. ${read}`);
  const replayable = readReplayable(read);
  if (typeof replayable === 'string') throw new Error(`Cannot use ${file}. ${replayable}`);
  const { summary, capture } = read;
  const { upstream } = capture;
  if (upstream?.ended !== 'complete' || upstream.status !== 200)
    throw new Error(`Cannot use ${file}. Its answer isn't a whole one with status 200, which is what load is made of.`);
  const client = clientWires.find((wire) => wire === summary.protocol);
  if (!client)
    throw new Error(`Cannot use ${file}. It is of the protocol ${summary.protocol}, which the bench doesn't speak.`);
  const headers = new Map(Object.entries(upstream.responseHeaders).map(([name, value]) => [name.toLowerCase(), value]));
  const [firstAtMs = 0] = upstream.chunks.map(({ atMs }) => atMs);
  const provider = wireAt(new URL(upstream.url).pathname);
  const plan = streamedAnswer({
    streamed: summary.stream,
    recorded: {
      status: upstream.status,
      type: headers.get('content-type') ?? (summary.stream ? 'text/event-stream' : 'application/json'),
      chunks: upstream.chunks.map((chunk) => ({
        atMs: chunk.atMs - firstAtMs,
        base64: chunkBytes(chunk).toString('base64'),
      })),
    },
  });
  if (configured && !findProvider(configured.config.providers, replayable.provider))
    throw new Error(
      `The configuration has no provider ${JSON.stringify(replayable.provider)}, which answered ${file}.`,
    );
  const name = `${client}→${provider}`;
  const model = configured ? `${replayable.provider},${replayable.model}` : askedModel;
  const body = JSON.stringify({ ...replayable.asked, model, stream: summary.stream });
  const recorded = { path: summary.path, body, plan };
  return [
    { upstream: provider, lanes: [{ name, pair: { name, client, upstream: provider }, webSocket: false, recorded }] },
  ];
};
