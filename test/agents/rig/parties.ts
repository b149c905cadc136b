import { wordsOf } from '../../support/hosts/check.ts';
import { breachesOf, hostVendor } from '../../support/hosts/host-vendor.ts';
import { type StrictHost, strictHosts } from '../../support/hosts/hosts.ts';
import { deepseekVendor } from '../../support/vendors/deepseek.ts';
import { geminiVendor } from '../../support/vendors/gemini.ts';
import { groqVendor } from '../../support/vendors/groq.ts';
import { lookAlikeVendor, messagesVendor } from '../../support/vendors/messages.ts';
import { openrouterVendor } from '../../support/vendors/openrouter.ts';
import { responsesVendor } from '../../support/vendors/responses.ts';
import type { Scripted } from '../../support/vendors/script.ts';
import type { Vendor, VendorAnswer } from '../../support/vendors/vendor.ts';
import type { Wire } from './seen.ts';

/** Whoever answers an agent's requests behind the gateway: a vendor, or a strict host. */
export interface Party {
  readonly name: string;
  /** As users configure it, but for the scheme: the gateway reaches it through a proxy that the tests hold. */
  readonly baseUrl: string;
  readonly model: string;
  /** Options of the provider's format, where its host doesn't decide. */
  readonly options?: { readonly name: string; readonly options: object };
  readonly wire: Wire;
  readonly paths: RegExp;
  /** What it refuses in a request; empty if it takes it. */
  readonly refusals: (body: unknown, url: string) => readonly Refusal[];
  /** What it refuses once, so that the gateway learns it; a second refusal means that it hasn't. */
  readonly teaches?: (request: {
    readonly body: Readonly<Record<string, unknown>>;
    readonly headers: Readonly<Record<string, unknown>>;
  }) => { readonly status: number; readonly body: unknown } | undefined;
  readonly failure: (status: number, words: string) => { readonly status: number; readonly body: unknown };
  readonly overflow: { readonly status: number; readonly words: string };
  readonly answer: (scripted: Scripted, body: unknown, url: string) => VendorAnswer;
}

interface Refusal {
  readonly status: number;
  /** With the path, where it is known. */
  readonly words: string;
}

type Row = Pick<Party, 'baseUrl' | 'model' | 'wire'> & Partial<Pick<Party, 'options'>> & { readonly overflow: string };

/** A simulated vendor reads whatever it is sent, and says what is wrong with it. */
export const fromVendor = <Body>(name: string, vendor: Vendor<Body>, { overflow, ...row }: Row): Party => {
  const refusals: Party['refusals'] = (body, url) => {
    const words = vendor.complaint(body as Body, url);
    return words === undefined ? [] : [{ status: 400, words }];
  };
  return {
    name,
    ...row,
    paths: vendor.paths,
    refusals,
    failure(status, words) {
      const failure = vendor.failure(status, words);
      return { status: failure.status ?? status, body: failure.body };
    },
    overflow: { status: 400, words: overflow },
    answer: (scripted, body, url) => vendor.answer(body as Body, url, () => scripted),
  };
};

export const fromHost = (name: string, host: StrictHost): Party => {
  const vendor = hostVendor(host);
  const { baseUrl, model, options, overflow, refusesWith = 400, failure } = host;
  type Body = Parameters<typeof vendor.complaint>[0];
  return {
    name,
    baseUrl,
    model,
    ...(options && { options: { name: 'openai', options } }),
    wire: 'chat',
    paths: vendor.paths,
    refusals: (body) =>
      breachesOf(host, body as Body).map((breach) => ({
        status: breach.status ?? refusesWith,
        words: wordsOf(breach),
      })),
    failure: (status, words) => ({ status, body: failure(status, words) }),
    overflow,
    answer: (scripted, body, url) => vendor.answer(body as Body, url, () => scripted),
  };
};

const openAiOverflow =
  "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.";

/** A vendor of every format but Chat Completions, which a strict host has. */
const vendors: readonly Party[] = [
  fromVendor('anthropic', messagesVendor, {
    baseUrl: 'http://api.anthropic.com',
    model: 'claude-opus-5-5',
    wire: 'messages',
    overflow: 'prompt is too long: 9000 tokens > 8192 maximum',
  }),
  fromVendor('openai responses', responsesVendor, {
    baseUrl: 'http://api.openai.com/v1',
    model: 'gpt-5.5',
    options: { name: 'openai', options: { api: 'responses' } },
    wire: 'responses',
    overflow: 'Your input exceeds the context window of this model. Please adjust your input and try again.',
  }),
  fromVendor('gemini', geminiVendor, {
    baseUrl: 'http://generativelanguage.googleapis.com',
    model: 'gemini-3-flash-preview',
    wire: 'gemini',
    overflow: 'The input token count (9000) exceeds the maximum number of tokens allowed (8192).',
  }),
  fromVendor('deepseek', deepseekVendor, {
    baseUrl: 'http://api.deepseek.com/v1',
    model: 'deepseek-flash',
    wire: 'chat',
    overflow: openAiOverflow,
  }),
  fromVendor('openrouter', openrouterVendor, {
    baseUrl: 'http://openrouter.ai/api/v1',
    model: 'anthropic/claude-sonnet-4.5',
    wire: 'chat',
    overflow: "This endpoint's maximum context length is 8192 tokens. However, you requested about 9000 tokens.",
  }),
  fromVendor('groq', groqVendor, {
    baseUrl: 'http://api.groq.com/openai/v1',
    model: 'openai/gpt-oss-120b',
    wire: 'chat',
    overflow: 'Please reduce the length of the messages or completion.',
  }),
];

/** A host that serves its own models behind Messages. */
const lookAlike = (name: string, baseUrl: string, model: string, overflow: string): Party => {
  const paths = new RegExp(`^${new URL(baseUrl).pathname}/v1/messages$`);
  return fromVendor(name, { ...lookAlikeVendor, paths }, { baseUrl, model, wire: 'messages', overflow });
};

const lookAlikes: readonly Party[] = [
  lookAlike("deepseek's door", 'http://api.deepseek.com/anthropic', 'deepseek-flash', openAiOverflow),
  lookAlike(
    "kimi's door",
    'http://api.moonshot.ai/anthropic',
    'kimi-k3',
    'Your request exceeded model token limit: 8192 (requested: 9000)',
  ),
  lookAlike("z.ai's door", 'http://api.z.ai/api/anthropic', 'glm-5.3', 'prompt exceeds max length'),
  lookAlike(
    "minimax's door",
    'http://api.minimax.io/anthropic',
    'MiniMax-M3',
    'invalid params, context window exceeds limit',
  ),
];

const hosts = Object.entries(strictHosts).map(([name, host]) => fromHost(name, host));

/** All that agents are run against: vendors of every format, their look-alikes, then strict hosts. */
export const parties: readonly Party[] = [...vendors, ...lookAlikes, ...hosts];

/** One of every provider format. */
export const formatParties: readonly Party[] = [...vendors, ...hosts.filter(({ name }) => name === 'openai')];

/** A name that can stand in a path. */
export const slugOf = ({ name }: Pick<Party, 'name'>): string => name.replaceAll(/[^a-z0-9]+/g, '-');

/** The name of its model that clients may ask for wherever they are. */
export const destinationOf = (party: Pick<Party, 'name' | 'model'>): string => `${slugOf(party)},${party.model}`;
