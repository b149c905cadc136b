import { Buffer } from 'node:buffer';
import { crc32 } from 'node:zlib';
import { bearerKey } from './chat-wire.ts';
import { type MessagesBody, messagesVendor } from './messages.ts';
import { reissued } from './reissued.ts';
import type { Vendor, VendorFailure } from './vendor.ts';

const u32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

/** One message of an event stream. Source: AWS documentation, "Event stream encoding". */
const frame = (headers: Readonly<Record<string, string>>, payload: string): Buffer => {
  const head = Buffer.concat(
    Object.entries(headers).map(([name, value]) => {
      const length = Buffer.alloc(2);
      length.writeUInt16BE(Buffer.byteLength(value));
      return Buffer.concat([
        Buffer.from([name.length]),
        Buffer.from(name),
        Buffer.from([7]),
        length,
        Buffer.from(value),
      ]);
    }),
  );
  const body = Buffer.from(payload);
  const prelude = Buffer.concat([u32(16 + head.length + body.length), u32(head.length)]);
  const message = Buffer.concat([prelude, u32(crc32(prelude)), head, body]);
  return Buffer.concat([message, u32(crc32(message))]);
};

/** A record of the vendor's stream as an event of the cloud. */
export const chunk = (data: string): Buffer =>
  frame(
    { ':event-type': 'chunk', ':content-type': 'application/json', ':message-type': 'event' },
    JSON.stringify({ bytes: Buffer.from(data).toString('base64'), p: 'abcdefgh' }),
  );

/** A failure of the cloud in a stream that has begun. */
export const exception = (type: string, message: string): Buffer =>
  frame(
    { ':exception-type': type, ':content-type': 'application/json', ':message-type': 'exception' },
    JSON.stringify({ message }),
  );

export const eventStreamType = 'application/vnd.amazon.eventstream';

const framed = (stream: string): Uint8Array =>
  Buffer.concat([...stream.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => chunk(data)));

/** Exceptions by their status. Source: Amazon Bedrock API reference, "InvokeModel". */
const exceptions: Readonly<Record<number, readonly [status: number, type: string]>> = {
  400: [400, 'ValidationException'],
  401: [403, 'UnrecognizedClientException'],
  404: [404, 'ResourceNotFoundException'],
  429: [429, 'ThrottlingException'],
  500: [500, 'InternalServerException'],
};

const failure = (wanted: number, message: string): VendorFailure => {
  const [status, type] = exceptions[wanted] ?? [wanted, 'InternalServerException'];
  return {
    status,
    body: { message },
    headers: {
      'x-amzn-errortype': `${type}:http://internal.amazon.com/coral/com.amazon.bedrock/`,
      ...(wanted === 429 && { 'retry-after': '7' }),
    },
  };
};

const messages = reissued(messagesVendor, 'EqQBCgIYAhIM+bedrock/signature==');

/** The vendor's body from the path and the cloud's. */
const wholeBody = ({ anthropic_version: _, anthropic_beta: __, ...body }: BedrockBody, url: string): MessagesBody => ({
  ...body,
  model: decodeURIComponent(/\/model\/([^/]+)\//.exec(url)?.[1] ?? ''),
  stream: url.endsWith('-stream'),
});

type BedrockBody = MessagesBody & { readonly anthropic_version?: string; readonly anthropic_beta?: unknown };

/**
 * Claude on Amazon Bedrock: the model and whether it streams are in the path, version and betas in the body, streams in the cloud's
 * framing. Source: npm @anthropic-ai/bedrock-sdk 1.1.
 */
export const bedrockClaudeVendor: Vendor<BedrockBody> = {
  ...messages,
  paths: /^\/model\/[\w.-]*anthropic\.claude-[\w.-]+%3A\d+\/(?:invoke|invoke-with-response-stream)$/,
  key: bearerKey,
  refusal(body, headers) {
    const { anthropic_version: version, anthropic_beta: betas = [] } = body;
    const foreign = ['model', 'stream'].find((name) => name in body);
    if (foreign !== undefined) return failure(400, `${foreign}: Extra inputs are not permitted`);
    if (version !== 'bedrock-2023-05-31') return failure(400, 'anthropic_version: Field required');
    if (!Array.isArray(betas)) return failure(400, 'anthropic_beta: Input should be a valid list');
    const header = ['anthropic-version', 'anthropic-beta', 'x-api-key'].find((name) => name in headers);
    return header === undefined ? undefined : failure(400, `${header} in a header`);
  },
  complaint: (body, url) => messages.complaint(wholeBody(body, url), url),
  failure,
  answer: (body, url, script) => messages.answer(wholeBody(body, url), url, script),
  framing: { type: eventStreamType, bytes: framed },
};
