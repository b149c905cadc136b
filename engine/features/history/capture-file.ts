import { Buffer, isUtf8 } from 'node:buffer';
import Type, { type Static } from 'typebox';
import { isJsonObject, type Json, parseJson } from '../../model/json/json.ts';
import { reader } from '../../model/schema.ts';
import { standIn, standInText } from '../../observe/log/stand-ins.ts';
import { Capture, type Chunk, RequestDetail, RequestSummary } from '../record/schema.ts';

/** The version of the format that this file writes and reads. It grows when a file can no longer be read as before. */
const version = 1;

/** A capture as a file: what `GET /api/requests/{id}` says, and what the file is. */
export const CaptureFile = Type.Object({
  junctor: Type.Literal('capture'),
  version: Type.Literal(version),
  exportedAt: Type.String({ description: 'ISO 8601.' }),
  redacted: Type.Boolean({ description: 'Texts are replaced by stand-ins of the same shape.' }),
  summary: RequestSummary,
  capture: Capture,
});
export type CaptureFile = Static<typeof CaptureFile>;

const detailReader = reader(RequestDetail);
const fileReader = reader(CaptureFile);

/**
 * The text of a capture's file. `detail`: the JSON text of its `RequestDetail`, which holds no secrets. `redact` also replaces
 * the texts of the client and the model.
 */
export const captureFile = (detail: string, exportedAt: string, redact: boolean): string | undefined => {
  const { summary, capture } = detailReader.read(parseJson(detail));
  if (!capture) return undefined;
  const kept = { summary, capture };
  const file: CaptureFile = {
    junctor: 'capture',
    version,
    exportedAt,
    redacted: redact,
    ...(redact ? withoutTexts(kept) : kept),
  };
  return `${JSON.stringify(file, null, 2)}\n`;
};

/** Reads the text of a capture's file; returns the reason for users if it isn't one. */
export const readCaptureFile = (text: string): CaptureFile | string => {
  const parsed = parseJson(text);
  const isCut = parsed === undefined && text.slice(0, 100).includes('"junctor": "capture"');
  if (isCut) return 'It is a capture that was cut off: its JSON text has no end.';
  if (!isJsonObject(parsed) || parsed.junctor !== 'capture')
    return 'It is not a capture: a file that `junctor captures export` writes begins with `"junctor": "capture"`.';
  if (typeof parsed.version !== 'number') return 'It has no version of its format.';
  if (parsed.version !== version)
    return `It is a capture of version ${parsed.version} of the format; this version of Junctor reads version ${version}.`;
  if (fileReader.matches(parsed)) return parsed;
  const [fault] = fileReader.faults(parsed);
  return `It is damaged: ${fault?.path ?? 'it'} ${fault?.message ?? 'is invalid'}.`;
};

/** Headers whose values tell nothing of the client, the user or the provider. */
const plainHeaders =
  /^(?:content-|accept|user-agent|retry-after|x-junctor-(?:loss|replay)|x-should-retry|cache-control)|-(?:version|beta)$/;

const withoutTexts = ({ summary, capture }: { summary: RequestSummary; capture: Capture }) => {
  const { title: _, session: _session, client: _client, reason: _reason, ...rest } = summary;
  const { upstream } = capture;
  return {
    summary: { ...rest, ...(summary.fault && { fault: withoutMessage(summary.fault) }) },
    capture: {
      ...capture,
      client: {
        ...capture.client,
        path: pathOnly(capture.client.path),
        headers: plain(capture.client.headers),
        body: redacted(capture.client.body),
      },
      steps: capture.steps.map((step) => ({ ...step, request: redactedJson(step.request) })),
      events: capture.events.map((entry) => ({ ...entry, events: entry.events.map(redactedJson) })),
      upstream: upstream && {
        ...upstream,
        url: `https://provider.example${pathOnly(new URL(upstream.url).pathname)}`,
        headers: plain(upstream.headers),
        body: redacted(upstream.body),
        responseHeaders: plain(upstream.responseHeaders),
        chunks: redactedChunks(upstream.chunks),
        ...(upstream.fault && { fault: withoutMessage(upstream.fault) }),
      },
      reply: {
        ...capture.reply,
        headers: plain(capture.reply.headers),
        chunks: redactedChunks(capture.reply.chunks),
      },
      // The commands repeat the bodies.
      curl: { client: '', upstream: null },
    },
  };
};

const withoutMessage = <F extends { readonly message: string }>(fault: F): F => ({
  ...fault,
  message: standInText(fault.message),
});

const pathOnly = (path: string): string => path.replace(/\?.*$/s, '');

const plain = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, plainHeaders.test(name) ? value : standInText(value)]),
  );

const redacted = (text: string): string => standIn(Buffer.from(text)).toString();

const redactedJson = (value: Json): Json => parseJson(redacted(JSON.stringify(value))) ?? null;

/** The chunks of a stream, each with the bytes that it had: a text may be cut anywhere. */
const redactedChunks = (chunks: readonly Chunk[]): Chunk[] => {
  const pieces = chunks.map(chunkBytes);
  const whole = standIn(Buffer.concat(pieces));
  let at = 0;
  return pieces.map((piece, index) => {
    const bytes = whole.subarray(at, at + piece.length);
    at += piece.length;
    const atMs = chunks[index]?.atMs ?? 0;
    return isUtf8(bytes) ? { atMs, text: bytes.toString() } : { atMs, base64: bytes.toString('base64') };
  });
};

/** The bytes of a chunk. */
export const chunkBytes = ({ text, base64 }: Chunk): Buffer =>
  base64 === undefined ? Buffer.from(text ?? '') : Buffer.from(base64, 'base64');
