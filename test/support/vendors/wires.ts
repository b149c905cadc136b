import type { ScriptedUpstream } from '../upstreams/upstream.ts';
import { bedrockClaudeVendor } from './bedrock.ts';
import { chatVendor } from './chat.ts';
import { deepseekVendor } from './deepseek.ts';
import { geminiVendor } from './gemini.ts';
import { groqVendor } from './groq.ts';
import { messagesVendor } from './messages.ts';
import { openrouterVendor } from './openrouter.ts';
import { responsesVendor } from './responses.ts';
import { serveVendor } from './serve-vendor.ts';
import type { Vendor } from './vendor.ts';
import { vertexBase, vertexClaudeVendor, vertexGeminiVendor } from './vertex.ts';

/** A vendor, and how a provider of it is configured. */
interface Wire {
  readonly serve: (key: string) => Promise<ScriptedUpstream>;
  readonly payload: string;
  readonly format: string;
  readonly options?: object;
  /** What its base URL has behind the host. */
  readonly base?: string;
  readonly model: string;
  /** The model that sees, where that is another; `none`: none does. */
  readonly eyes?: string;
  /** It gives calls ids of its own. */
  readonly ownIds?: true;
  /** It tells when to try again after a 429. */
  readonly retryAfter?: string;
}

const wire = <Body>(vendor: Vendor<Body>, more: Omit<Wire, 'serve' | 'payload'>): Wire => ({
  serve: (key) => serveVendor(vendor, key),
  payload: vendor.payload,
  ...more,
});

/** A provider of every format, with vendors as strict as the originals. */
export const wires: Readonly<Record<string, Wire>> = {
  anthropic: wire(messagesVendor, { format: 'anthropic', model: 'claude-sonnet-4-5', retryAfter: '7' }),
  'openai chat': wire(chatVendor, { format: 'openai', model: 'model-x', retryAfter: '7' }),
  'openai responses': wire(responsesVendor, {
    format: 'openai',
    options: { api: 'responses', fullResponses: true },
    model: 'gpt-5.1',
    retryAfter: '7',
  }),
  deepseek: wire(deepseekVendor, { format: 'deepseek', model: 'deepseek-v4-pro', eyes: 'none' }),
  openrouter: wire(openrouterVendor, {
    format: 'openrouter',
    base: '/api/v1',
    model: 'anthropic/claude-sonnet-4.5:floor',
    retryAfter: '7',
  }),
  groq: wire(groqVendor, {
    format: 'groq',
    base: '/openai/v1',
    model: 'openai/gpt-oss-120b',
    eyes: 'meta-llama/llama-4-maverick-17b-128e-instruct',
    retryAfter: '7',
  }),
  gemini: wire(geminiVendor, { format: 'gemini', model: 'gemini-3-flash-preview', ownIds: true, retryAfter: '7' }),
};

/** Models on clouds: the forms of other rows below paths of the clouds' own. */
export const cloudWires: Readonly<Record<string, Wire>> = {
  'vertex gemini': wire(vertexGeminiVendor, {
    format: 'gemini',
    options: { cloud: 'vertex' },
    base: vertexBase,
    model: 'gemini-3-flash-preview',
    ownIds: true,
    retryAfter: '7',
  }),
  'vertex claude': wire(vertexClaudeVendor, {
    format: 'anthropic',
    options: { cloud: 'vertex' },
    base: vertexBase,
    model: 'claude-sonnet-4-5@20250929',
    retryAfter: '7',
  }),
  'bedrock claude': wire(bedrockClaudeVendor, {
    format: 'anthropic',
    options: { cloud: 'bedrock' },
    model: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
    retryAfter: '7',
  }),
};
