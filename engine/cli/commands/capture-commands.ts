import { readFile, writeFile } from 'node:fs/promises';
import { firstValueFrom, type ObservedValueOf, toArray } from 'rxjs';
import { clientProtocols } from '../../../protocols/index.ts';
import { findProvider } from '../../config/sections/destination.ts';
import { type CaptureFile, chunkBytes, readCaptureFile } from '../../features/history/capture-file.ts';
import { compareReplies } from '../../features/history/compare-replies.ts';
import { judgeReplay } from '../../features/history/judge-replay.ts';
import { readReplayable, replay } from '../../features/history/replay.ts';
import { dataOf } from '../../http/endpoint.ts';
import { bodyText } from '../../model/call-body.ts';
import { isJsonObject, type Json, type JsonObject } from '../../model/json/json.ts';
import type { ClientProtocol } from '../../model/protocol.ts';
import { Backpressure } from '../../runtime/backpressure.ts';
import type { UpstreamCall } from '../../upstream/upstreams.ts';
import { type Cli, CommandError } from '../cli.ts';
import type { Leave } from '../leave.ts';
import { usableConfig } from '../offline-config.ts';
import { offlineGateway } from '../offline-gateway.ts';
import { callService, reachService } from '../reach-service.ts';

/** `junctor captures list`: prints the captured requests of the running service, newest first. */
export const listCaptures = async (cli: Cli): Promise<void> => {
  const { body } = await callService(await reachService(cli), 'GET', '/api/requests?limit=1000');
  const requests = Array.isArray(body.requests) ? body.requests : [];
  const captured = requests.flatMap((request) => (isJsonObject(request) && request.captured === true ? [request] : []));
  if (captured.length === 0) cli.warn('No request is captured. `x-junctor-capture: 1` captures one; failed ones are.');
  for (const { id, startedAt, protocol, provider, model, status, title } of captured) {
    const route = provider === undefined ? '–' : `${word(provider)},${word(model)}`;
    const time = new Date(Number(startedAt)).toISOString();
    cli.print(`${word(id)}  ${time}  ${word(protocol)}  ${route}  ${word(status)}  ${word(title ?? '')}`.trimEnd());
  }
};

/** Clients choose ids and titles: no control character reaches the terminal. */
const word = (value: Json | undefined): string => String(value ?? '').replaceAll(/\p{C}/gu, '�');

/** `junctor captures export ID FILE`: writes a capture of the running service to a file that can be replayed and passed on. */
export const exportCapture = async (
  cli: Cli,
  id: string,
  file: string,
  { redact = false }: { readonly redact?: boolean },
): Promise<void> => {
  const body = await captureOf(cli, id, redact);
  const text = `${JSON.stringify(body, null, 2)}\n`;
  await writeFile(file, text, { mode: 0o600 }).catch((error) => {
    throw new CommandError(`Cannot write ${file}: ${error.message}`);
  });
  cli.warn(
    redact
      ? `Wrote ${file}. Texts are replaced; names of models and tools are not.`
      : `Wrote ${file}. It has no keys, but the prompts and answers: --redact replaces their texts.`,
  );
};

/** A capture of the running service, as its file holds it. */
export const captureOf = async (cli: Cli, id: string, redact = false): Promise<JsonObject> => {
  const path = `/api/requests/${encodeURIComponent(id)}/capture?redact=${redact}`;
  const { status, body } = await callService(await reachService(cli), 'GET', path);
  if (status !== 200) throw new CommandError(`${word(body.message ?? `The service answered ${status}.`)}`);
  return body;
};

/** Options of `junctor replay`, as typed. */
interface ReplayOptions extends Leave {
  readonly client?: string;
  readonly to?: string;
  readonly speed: string;
}

/**
 * `junctor replay FILE`: plays a capture's upstream answer through the configuration on disk, prints the answer that a client gets,
 * and says how it compares with the recorded one, and what in both breaks the rules of their wire formats. Returns 1 if the client's
 * answer differs, or breaks a rule. Calls no provider.
 */
export const replayCapture = async (cli: Cli, file: string, options: ReplayOptions): Promise<number> => {
  const captured = await readFileOf(file);
  const { summary, capture } = captured;
  const replayable = readReplayable({ summary, capture });
  if (typeof replayable === 'string') throw new CommandError(replayable);
  const [provider = '', model = ''] =
    options.to === undefined ? [replayable.provider, replayable.model] : split(options.to);
  const config = await usableConfig(cli);
  const found = findProvider(config.providers, provider);
  if (!found) {
    throw new CommandError(
      `The provider ${JSON.stringify(provider)} is not configured. --to names another destination.`,
    );
  }
  if (summary.preset !== undefined) cli.warn(`The preset ${word(summary.preset)} is left out.`);
  const { gateway } = await offlineGateway(config, cli.home, options);
  const recorded = protocolOf(summary.protocol);
  const client = options.client === undefined ? recorded : protocolOf(options.client);
  let sent: string | undefined;
  const settings = {
    id: 'replay',
    startedAtMs: Date.now(),
    backpressure: new Backpressure(),
    recorded,
    client,
    speed: speedOf(options.speed),
    stream: undefined,
    called: ({ body }: UpstreamCall) => {
      sent = bodyText(body);
    },
  };
  const parts = await firstValueFrom(replay({ ...replayable, provider, model }, settings, gateway).pipe(toArray()));
  const reply = replyOf(parts);
  cli.print(reply.text.trimEnd());
  const plan = gateway.planFor({ client, provider: found, model });
  const answer = Buffer.concat(replayable.recording.chunks.map(({ bytes }) => bytes));
  const judged = judgeReplay(plan, client, answer, reply.text);
  for (const violation of judged.provider) cli.warn(`the provider's answer: ${word(violation)}`);
  for (const violation of judged.client) cli.warn(`the answer to the client: ${word(violation)}`);
  const isSound = judged.client.length === 0;
  if (client !== recorded) {
    cli.warn(
      `status ${reply.status} (was ${capture.reply.status}); the recorded answer was for a ${summary.protocol} client`,
    );
    return isSound ? 0 : 1;
  }
  const asked = capture.upstream;
  if (options.to === undefined && asked && !asked.bodyTruncated && sent !== undefined) {
    const compared = compareReplies(asked.body, sent, captured.redacted);
    cli.warn(`the request to the provider ${compared.isSame ? 'is as recorded' : 'differs from the recorded one'}`);
  }
  const isSame = say(cli, captured, reply) === 0;
  return isSame && isSound ? 0 : 1;
};

interface Reply {
  readonly status: number;
  readonly text: string;
}

const replyOf = (parts: readonly ObservedValueOf<ReturnType<typeof replay>>[]): Reply => {
  // A failure before the first byte takes the place of a head that was there already.
  const status = parts.flatMap((part) => (part.type === 'data' ? [] : [part.status])).at(-1) ?? 0;
  const data = parts.flatMap((part) =>
    part.type === 'data' ? [dataOf(part)] : part.type === 'whole' ? [part.body] : [],
  );
  return { status, text: Buffer.concat(data.map((piece) => Buffer.from(piece))).toString() };
};

/** Says how a reply compares with the recorded one; returns the exit code. */
const say = (cli: Cli, { capture, redacted }: CaptureFile, { status, text }: Reply): number => {
  const was = capture.reply;
  const statuses = status === was.status ? `status ${status}, as recorded` : `status ${status}, recorded ${was.status}`;
  if (was.truncated) {
    cli.warn(`${statuses}; the recorded answer was too large to be kept whole, so it isn't compared`);
    return status === was.status ? 0 : 1;
  }
  const compared = compareReplies(Buffer.concat(was.chunks.map(chunkBytes)).toString(), text, redacted);
  if (compared.isSame) {
    cli.warn(`${statuses}; ${compared.records} records, all as recorded`);
    return status === was.status ? 0 : 1;
  }
  cli.warn(`${statuses}; record ${compared.record} differs`);
  cli.warn(`recorded  ${compared.before ?? '(no further record)'}`);
  cli.warn(`now       ${compared.after ?? '(no further record)'}`);
  return 1;
};

const readFileOf = async (file: string): Promise<CaptureFile> => {
  const text = await readFile(file, 'utf8').catch(() => {
    throw new CommandError(`Cannot read ${file}.`);
  });
  const read = readCaptureFile(text);
  if (typeof read === 'string') throw new CommandError(`Cannot replay ${file}. ${read}`);
  return read;
};

const split = (destination: string): readonly [string, string] => {
  const comma = destination.indexOf(',');
  if (comma < 1 || comma === destination.length - 1) throw new CommandError('--to must be `provider,model`.');
  return [destination.slice(0, comma), destination.slice(comma + 1)];
};

const protocolOf = (wire: string): ClientProtocol => {
  const found = clientProtocols.find(({ protocol }) => protocol.wire === wire);
  if (found) return found.protocol;
  throw new CommandError(`--client must be one of ${clientProtocols.map(({ protocol }) => protocol.wire).join(', ')}.`);
};

/** Most times as fast as recorded. */
const maxSpeed = 1_000;

const speedOf = (text: string): number => {
  if (text === 'max') return 0;
  const speed = Number(text);
  if (speed > 0 && speed <= maxSpeed) return speed;
  throw new CommandError(`--speed must be a number up to ${maxSpeed}, or max.`);
};
