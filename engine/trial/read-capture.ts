import { Buffer } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import { lastValueFrom, toArray } from 'rxjs';
import { clientProtocols } from '../../protocols/index.ts';
import type { Config } from '../config/config.ts';
import { Exchange } from '../exchange.ts';
import { readCaptureFile } from '../features/history/capture-file.ts';
import { readReplayable } from '../features/history/replay.ts';
import type { Batch } from '../model/event.ts';
import { FaultError, messageOf } from '../model/fault.ts';
import { type ClientProtocol, clientAt } from '../model/protocol.ts';
import { Known } from '../operators/rx/sequence.ts';
import { createTrial } from '../pipeline.ts';
import { Backpressure } from '../runtime/backpressure.ts';
import { playRecording } from '../upstream/play-recording.ts';
import { configFor } from './config-for.ts';
import type { AnswerFunction, GivenAnswer, StageTest } from './declared.ts';
import { dryGateway } from './dry-gateway.ts';

/** The parts of a capture for a trial. */
interface Captured {
  /** Decodes any body as the captured request. */
  readonly client: ClientProtocol;
  readonly provider: string;
  readonly model: string;
  /** The provider's answer; a refusal is thrown. */
  readonly answer: GivenAnswer | AnswerFunction;
}

/** Reads a capture: a file, or what it holds. Rejects, with the reason for users, if it has no whole answer. */
export const readCapture = async (given: NonNullable<StageTest['capture']>): Promise<Captured> => {
  const isFile = typeof given === 'string' || given instanceof URL;
  const text = isFile
    ? await readFile(given, 'utf8').catch((error: unknown) => {
        throw new Error(`Cannot read the capture: ${messageOf(error)}.`);
      })
    : JSON.stringify(given);
  const read = readCaptureFile(text);
  if (typeof read === 'string') throw new Error(`Cannot use the capture. ${read}`);
  const replayable = readReplayable(read);
  if (typeof replayable === 'string') throw new Error(replayable);
  const { asked, provider, model, recording, summary } = replayable;
  const served = clientProtocols.find(({ protocol }) => protocol.wire === summary.protocol);
  if (!served) throw new Error(`The capture is of the unknown protocol ${summary.protocol}.`);
  const at = clientAt(served.protocol, summary.path);
  const client: ClientProtocol = {
    ...at,
    decodeRequest: (_, settings) =>
      at.decodeRequest({ ...asked, model: `${provider},${model}`, stream: summary.stream }, settings),
  };
  // The recorded address shows the format.
  const baseUrl = new URL(read.capture.upstream?.url ?? 'http://127.0.0.1');
  const config = configFor({ provider, baseUrl, model: { name: model } });
  return { client, provider, model, answer: await answerOf(client, config, playRecording(recording, 0)) };
};

const answerOf = async (...of: Parameters<typeof eventsOf>): Promise<Captured['answer']> => {
  try {
    return await eventsOf(...of);
  } catch (error) {
    if (!(error instanceof FaultError)) throw error;
    return () => {
      throw error;
    };
  }
};

/** The events of a recorded answer. */
const eventsOf = (
  client: ClientProtocol,
  config: Config,
  upstreams: ReturnType<typeof playRecording>,
): Promise<readonly Batch[]> => {
  const exchange = new Exchange({
    incoming: {
      id: 'capture',
      startedAtMs: Date.now(),
      body: Buffer.from('{}'),
      header: () => undefined,
      backpressure: new Backpressure(),
    },
    client,
  });
  const gateway = dryGateway(config, { custom: new Map() }, { upstreams });
  return lastValueFrom(createTrial(gateway)(new Known(exchange)).pipe(toArray()));
};
