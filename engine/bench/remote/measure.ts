import { isJsonObject, parseJson } from '../../model/json/json.ts';
import type { LoadResult, Place } from '../load/job.ts';
import type { Load } from '../load/start-load.ts';
import type { RemotePlan } from '../options.ts';
import { rowsOf } from '../scenes/rows-of.ts';
import type { Row } from '../scenes/scene.ts';
import { streamedAnswer } from '../upstream/plan.ts';
import { type ClientWire, pathOf } from '../wire.ts';

/** Requests that are under way at a time. */
const clients = 4;

/** Tokens of an answer, which may be paid for. */
const maxTokens = 128;

/** The longest time for the first answer, and for a round of them. */
const firstMs = 60_000;
const roundMs = 600_000;

const rounds = 5;

/** The address with a path below it; a version that it ends with isn't repeated. */
const below = (url: URL, path: string): string => {
  const base = `${url.origin}${url.pathname}`.replace(/\/$/, '');
  return base.endsWith('/v1') ? base + path.slice(3) : base + path;
};

const headersOf = (client: ClientWire, key: string): Readonly<Record<string, string>> => {
  if (key === '') return {};
  return client === 'messages' ? { 'x-api-key': key } : { authorization: `Bearer ${key}` };
};

/**
 * Sends so many requests to an address, and measures what a client sees. Rejects with one line for users if nothing answers there, or what
 * answers isn't a gateway. The key appears in no message.
 */
export const measureRemote = async (
  { url, requests, client, model, keyVariable }: RemotePlan,
  key: string,
  load: Load,
  progress: (text: string) => void,
): Promise<readonly Row[]> => {
  const masked = (text: string): string => (key === '' ? text : text.replaceAll(key, '…'));
  const headers = headersOf(client, key);
  const asked = model ?? (await firstModel(url, headers));
  await tryOnce(below(url, pathOf(client, true)), { client, model: asked, headers, keyVariable, masked });
  const base = below(url, '/v1').slice(0, -3);
  const place: Place = { baseUrl: base, wire: client, headers, model: asked, maxTokens };
  const done: LoadResult[] = [];
  const each = Math.ceil(requests / rounds);
  for (let sent = 0; sent < requests; sent += each) {
    const most = Math.min(requests - sent, each);
    progress(`${url.host}: ${sent} of ${requests} requests`);
    const rhythm = { type: 'closed', clients: Math.min(clients, most), forMs: roundMs, most } as const;
    const job = { place, rhythm, bodyBytes: 1_400, streamed: true, text: streamedAnswer({}), check: 'form' } as const;
    done.push(await load.run(job, roundMs));
  }
  const pair = { name: `${client}, ${masked(asked)}`, client, upstream: client };
  const played = done.map((result) => ({
    cpuMs: undefined,
    mainMs: undefined,
    peakMb: undefined,
    allocated: undefined,
    result: { ...result, reasons: result.reasons.map(masked) },
  }));
  return rowsOf({ scene: url.host, unit: 'request', perRequest: 1 }, pair, new Map([[url.host, played]]));
};

/** The first model that the address lists. */
const firstModel = async (url: URL, headers: Readonly<Record<string, string>>): Promise<string> => {
  const { text } = await ask(below(url, '/v1/models'), { headers });
  const list = parseJson(text);
  const [first] = isJsonObject(list) && Array.isArray(list.data) ? list.data : [];
  if (isJsonObject(first) && typeof first.id === 'string') return first.id;
  throw new Error(`${url.host} lists no models: name one with --model.`);
};

interface Trial {
  readonly client: ClientWire;
  readonly model: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly keyVariable: string;
  readonly masked: (text: string) => string;
}

/** One small request, so that what is wrong there is said once. */
const tryOnce = async (address: string, { client, model, headers, keyVariable, masked }: Trial): Promise<void> => {
  const content = 'Say "ready".';
  const body =
    client === 'responses'
      ? { model, input: content, max_output_tokens: maxTokens, stream: true }
      : { model, messages: [{ role: 'user', content }], max_tokens: maxTokens, stream: true };
  const { status, type, text } = await ask(address, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', 'anthropic-version': '2023-06-01' },
    body: JSON.stringify(body),
  });
  const start = masked(text.replace(/\s+/g, ' ').trim().slice(0, 160));
  if (status === 401 || status === 403)
    throw new Error(`${address} refuses the key (${status}): set the variable ${keyVariable}. ${start}`);
  if (status !== 200) throw new Error(`${address} answers with status ${status}: ${start}`);
  if (!type.startsWith('text/event-stream') || !/^data: ?[[{]/m.test(text))
    throw new Error(`${address} isn't a gateway for ${client}: it answers with ${type || 'no type'}: ${start}`);
};

const ask = async (
  address: string,
  init: RequestInit,
): Promise<{ readonly status: number; readonly type: string; readonly text: string }> => {
  try {
    const answer = await fetch(address, { ...init, redirect: 'manual', signal: AbortSignal.timeout(firstMs) });
    return { status: answer.status, type: answer.headers.get('content-type') ?? '', text: await answer.text() };
  } catch (error) {
    const { cause } = error instanceof Error ? error : {};
    const why = cause instanceof Error ? cause : error;
    throw new Error(`Nothing answers at ${address}: ${codeOf(why)}.`);
  }
};

const codeOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message;
};
