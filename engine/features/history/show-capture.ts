import { Buffer, isUtf8 } from 'node:buffer';
import { bodyBytes } from '../../model/call-body.ts';
import { isJsonObject, type Json, parseJson } from '../../model/json/json.ts';
import type { Headers } from '../../model/protocol.ts';
import {
  type ExactMask,
  exactMask,
  type HiddenText,
  isSecretName,
  masked,
  maskUrl,
  shorten,
} from '../../observe/log/mask-text.ts';
import type { Chunk, RequestSummary } from '../record/schema.ts';
import { curlCommand } from './curl.ts';
import { markNames, type RecordedCall, type Recorder, type Recording } from './recorder.ts';

/** Settings for rendering captures. */
export interface ShowSettings {
  /** Configured keys to mask wherever they occur. */
  readonly secrets: readonly HiddenText[];
  /** Returns the environment variable of a provider's key. */
  readonly variableOf: (provider: string) => string;
  /** Base URL for clients: `http://127.0.0.1:3456`. */
  readonly baseUrl: () => string;
}

/** Limits of a rendered capture: with or without steps and events, and bytes per body or stream. */
interface ShowLimits {
  readonly steps: boolean;
  readonly maxBytes: number;
}

/** Renders the JSON text of a `RequestDetail` without secrets. Inserts steps and events as the recorded JSON texts. */
export const showCapture = (
  summary: RequestSummary,
  recorder: Recorder,
  settings: ShowSettings,
  limits: ShowLimits,
): string => {
  const { client, call, head } = recorder;
  const mask = maskOf(recorder, settings);
  const body = cutText(client.body, limits.maxBytes);
  const streams = [recorder.reply, ...(call ? [call.recording] : [])];
  const parts = {
    client: {
      method: client.method,
      path: maskUrl(client.query === '' ? client.path : `${client.path}?${client.query}`, mask.text),
      headers: maskHeaders(client.headers, mask),
      body: mask.text(body.text),
      truncated: body.truncated,
    },
    upstream: call ? showCall(call, mask, limits) : null,
    reply: {
      status: head?.status ?? summary.status,
      headers: maskHeaders(head?.headers ?? {}, mask),
      ...showRecording(recorder.reply, mask, limits),
    },
    timing: markNames.flatMap((name) => {
      const atMs = recorder.marks.get(name);
      return atMs === undefined ? [] : [{ name, atMs: round(atMs) }];
    }),
    curl: {
      client: mask.text(
        curlCommand({
          method: client.method,
          url:
            settings.baseUrl() +
            maskUrl(client.query === '' ? client.path : `${client.path}?${client.query}`, mask.text),
          headers: client.headers,
          body: mask.text(body.text),
          truncated: body.truncated,
          secret: clientKey(client.headers),
          variable: 'JUNCTOR_API_KEY',
        }),
      ),
      upstream: call ? curlOf(call, recorder, mask, settings, limits) : null,
    },
    ...(recorder.unasked && { unasked: true }),
    truncated:
      recorder.truncated || !limits.steps || body.truncated || streams.some((recording) => recording.truncated),
  };
  const steps = recorder.steps.map(({ name, kind, ms, json, losses }) => {
    const request = limits.steps && json !== undefined ? maskJson(json, mask) : 'null';
    return `${JSON.stringify({ name, kind, ms: round(ms), losses }).slice(0, -1)},"request":${request}}`;
  });
  const events = (limits.steps ? recorder.events : []).map(
    ({ step, atMs, texts }) =>
      `${JSON.stringify({ step, atMs: round(atMs) }).slice(0, -1)},"events":${maskJson(`[${texts.join(',')}]`, mask)}}`,
  );
  const rest = JSON.stringify(parts).slice(1);
  return `{"summary":${JSON.stringify(summary)},"capture":{"steps":[${steps.join(',')}],"events":[${events.join(',')}],${rest}}`;
};

/** Hides the configured keys and those that the request had. */
const maskOf = ({ client, credential }: Recorder, { secrets }: Pick<ShowSettings, 'secrets'>): ExactMask =>
  exactMask(
    [...secrets, ...clientSecrets(client.headers, client.query), credential?.apiKey ?? ''].filter(
      (secret) => secret !== '',
    ),
  );

/** The title of a recorded request, without secrets; `undefined`: it has none. */
export const shownTitle = (recorder: Recorder, settings: Pick<ShowSettings, 'secrets'>): string | undefined => {
  const { title = '' } = recorder;
  return title === '' ? undefined : shorten(maskOf(recorder, settings).text(title), maxTitleChars);
};

const maxTitleChars = 80;

const showCall = (call: RecordedCall, mask: ExactMask, limits: ShowLimits) => {
  const body = cutText(bodyBytes(call.body), limits.maxBytes);
  return {
    url: maskUrl(call.url.href, mask.text),
    method: call.method,
    headers: maskHeaders(call.headers, mask),
    body: mask.text(body.text),
    bodyTruncated: body.truncated,
    status: call.status ?? null,
    responseHeaders: maskHeaders(call.responseHeaders ?? {}, mask),
    ...showRecording(call.recording, mask, limits),
    ended: call.ended,
    ...(call.fault && { fault: { kind: call.fault.kind, message: mask.text(call.fault.message) } }),
  };
};

const curlOf = (
  call: RecordedCall,
  { credential }: Recorder,
  mask: ExactMask,
  settings: ShowSettings,
  limits: ShowLimits,
) => {
  const body = cutText(bodyBytes(call.body), limits.maxBytes);
  const secret = credential?.apiKey;
  return mask.text(
    curlCommand({
      method: call.method,
      url: urlFor(call.url, secret),
      headers: call.headers,
      body: mask.text(body.text),
      truncated: body.truncated,
      secret,
      variable: settings.variableOf(credential?.provider ?? ''),
    }),
  );
};

/** The URL with other secrets masked; the credential stays, so that a variable can replace it. */
const urlFor = (url: URL, secret: string | undefined): string => {
  const shown = maskUrl(url.href, (text) => text);
  if (secret === undefined || secret === '') return shown;
  const pairs = [...url.searchParams].filter(([, value]) => value === secret).map(([name]) => name);
  return pairs.reduce((text, name) => text.replace(`${name}=${masked}`, `${name}=${secret}`), shown);
};

const maskHeaders = (headers: Headers, mask: ExactMask): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, isSecretName(name) ? masked : mask.text(value)]),
  );

/**
 * Values that a client sent under secret names. Short ones are ignored: without a required key, clients send a placeholder,
 * which would be masked in every text that contains it.
 */
const clientSecrets = (headers: Headers, query: string): readonly string[] =>
  [
    ...Object.entries(headers)
      .filter(([name]) => isSecretName(name))
      .flatMap(([name, value]) => (name === 'cookie' ? cookieValues(value) : [value.replace(/^[A-Za-z]+\s+/, '')])),
    ...[...new URLSearchParams(query)].filter(([name]) => isSecretName(name)).map(([, value]) => value),
  ].filter((secret) => secret.length >= minClientSecret);

const minClientSecret = 12;

const cookieValues = (cookies: string): readonly string[] =>
  cookies.split(';').map((pair) => pair.slice(pair.indexOf('=') + 1).trim());

const clientKey = (headers: Headers): string | undefined =>
  headers['x-api-key'] ?? headers.authorization?.replace(/^bearer\s+/i, '');

/** Masks secrets in the strings of a JSON text, but not in numbers. */
const maskJson = (text: string, mask: ExactMask): string =>
  mask.text(text) === text ? text : JSON.stringify(maskValue(parseJson(text) ?? null, mask));

const maskValue = (value: Json | undefined, mask: ExactMask): Json | undefined => {
  if (typeof value === 'string') return mask.text(value);
  if (Array.isArray(value)) return value.map((member) => maskValue(member, mask) ?? null);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, maskValue(member, mask)]));
};

const showRecording = (
  recording: Recording,
  mask: ExactMask,
  { maxBytes }: ShowLimits,
): { chunks: Chunk[]; truncated: boolean } => {
  const pieces = mask.pieces(recording.chunks.map(({ bytes }) => bytes));
  let room = maxBytes;
  const chunks = recording.chunks.flatMap(({ atMs }, index): Chunk[] => {
    const bytes = (pieces[index] ?? Buffer.alloc(0)).subarray(0, Math.max(0, room));
    room -= pieces[index]?.length ?? 0;
    return bytes.length === 0 ? [] : [showChunk(round(atMs), Buffer.from(bytes))];
  });
  return { chunks, truncated: recording.truncated || room < 0 };
};

const showChunk = (atMs: number, bytes: Buffer): Chunk =>
  isUtf8(bytes) ? { atMs, text: bytes.toString() } : { atMs, base64: bytes.toString('base64') };

/** Decodes the beginning of a body, without a partial character at the end. */
const cutText = (body: Uint8Array, maxBytes: number): { readonly text: string; readonly truncated: boolean } => {
  if (body.length <= maxBytes)
    return { text: Buffer.from(body.buffer, body.byteOffset, body.length).toString(), truncated: false };
  let end = maxBytes;
  while (end > 0 && ((body[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return { text: Buffer.from(body.subarray(0, end)).toString(), truncated: true };
};

/** Rounds to tenths of a millisecond. */
const round = (ms: number): number => Math.round(ms * 10) / 10;
