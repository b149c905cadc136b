import { bearerKey } from './chat-wire.ts';
import { geminiVendor } from './gemini.ts';
import { type MessagesBody, messagesVendor } from './messages.ts';
import { reissued } from './reissued.ts';
import type { Vendor, VendorFailure } from './vendor.ts';

/** What precedes the publishers in every path. */
export const vertexBase = '/v1/projects/team-1/locations/us-east5';

/** An error of the cloud itself, whoever made the model. Source: Google AIP-193. */
const failure = (status: number, message: string): VendorFailure => ({
  body: { error: { code: status, message, status: words[status] ?? 'INTERNAL' } },
  headers: status === 429 ? { 'retry-after': '7' } : {},
});

const words: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
};

const vertexGemini = reissued(geminiVendor, 'CiQBjz1rX2vertex+thought/signature==');
const vertexMessages = reissued(messagesVendor, 'EqQBCgIYAhIM+vertex/signature==');

/** Gemini on Vertex AI: below a project, with the token of a login, and without what the Developer API alone has. */
export const vertexGeminiVendor: typeof geminiVendor = {
  ...vertexGemini,
  paths: new RegExp(
    `^${vertexBase}/publishers/google/models/gemini-[\\w.-]+:(?:generateContent|streamGenerateContent\\?alt=sse)$`,
  ),
  key: bearerKey,
  complaint: (body, url) =>
    'store' in body ? 'Unknown name "store": Cannot find field.' : vertexGemini.complaint(body, url),
  failure,
};

const modelOf = (url: string): string => decodeURIComponent(/models\/([^:]+):/.exec(url)?.[1] ?? '');

/** Claude on Vertex AI: the model and whether it streams are in the path, the version is in the body. Source: npm @anthropic-ai/vertex-sdk 1.1. */
export const vertexClaudeVendor: Vendor<MessagesBody & { readonly anthropic_version?: string }> = {
  ...vertexMessages,
  paths: new RegExp(`^${vertexBase}/publishers/anthropic/models/claude-[\\w.@-]+:(?:rawPredict|streamRawPredict)$`),
  key: bearerKey,
  refusal(body, headers) {
    const { anthropic_version: version } = body;
    if ('model' in body) return { body: { type: 'error', error: { type: 'invalid_request_error', message: extra } } };
    if (version !== 'vertex-2023-10-16') return failure(400, 'anthropic_version: Field required');
    return headers['anthropic-version'] === undefined ? undefined : failure(400, 'anthropic-version in a header');
  },
  complaint({ anthropic_version: _, ...body }, url) {
    if ((body.stream ?? false) !== url.endsWith(':streamRawPredict')) return 'stream does not fit the method';
    return vertexMessages.complaint({ ...body, model: modelOf(url) }, url);
  },
  failure,
  answer: (body, url, script) => vertexMessages.answer({ ...body, model: modelOf(url) }, url, script),
};

const extra = 'model: Extra inputs are not permitted';
