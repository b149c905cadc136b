import Anthropic from '@anthropic-ai/sdk';
import type { ExecutionContext } from 'ava';
import OpenAI from 'openai';
import { hashedKey } from '../../../../engine/config/sections/clients.ts';
import { type GatewayExtras, startGateway, type TestGateway } from '../../../support/gateway.ts';
import { chatReply } from '../../../support/upstreams/chat-stream.ts';
import { jsonAnswer, type Script, type ScriptedUpstream, startUpstream } from '../../../support/upstreams/upstream.ts';

/** The administrator's key of the test gateways. */
export const adminKey = 'the-key-of-the-administrator';

/** A client's key by its name. */
export const keyOf = (name: string): string => `the-key-of-${name}`;

/** An entry of `CLIENTS` with the key that `keyOf` gives. */
export const client = (name: string, more: object = {}): object => ({ name, key: hashedKey(keyOf(name)), ...more });

interface ClientRig {
  readonly gateway: TestGateway;
  readonly upstream: ScriptedUpstream;
  /** Replaces the configuration, as its file does. */
  readonly configure: (clients: readonly object[], more?: object) => Promise<void>;
  /** Calls an endpoint of the service with the administrator's key. */
  readonly admin: (path: string) => Promise<Response>;
}

/** A gateway with these clients in front of an upstream with the models `small` and `large`. */
export const clientRig = async (
  t: ExecutionContext,
  clients: readonly object[],
  {
    more = {},
    path = '/v1',
    models = ['small', 'large'],
    script = () => jsonAnswer(chatReply('Hello')),
    ...extras
  }: { more?: object; path?: string; models?: readonly (string | object)[]; script?: Script } & GatewayExtras = {},
): Promise<ClientRig> => {
  const upstream = await startUpstream(script);
  const written = (list: readonly object[], over: object): object => ({
    APIKEY: adminKey,
    LOG: false,
    CLIENTS: list,
    Providers: [{ name: 'p', baseUrl: `${upstream.url}${path}`, apiKey: 'k', models }],
    Router: { default: 'p,small', routes: { background: 'p,large' } },
    ...over,
  });
  const gateway = await startGateway(written(clients, more), {}, extras);
  t.teardown(async () => {
    await gateway.stop();
    await upstream.close();
  });
  return {
    gateway,
    upstream,
    async configure(list, over = {}) {
      const answer = await fetch(`${gateway.baseUrl}/api/config`, {
        method: 'POST',
        headers: { 'x-api-key': adminKey },
        body: JSON.stringify(written(list, over)),
      });
      if (!answer.ok) throw new Error(await answer.text());
    },
    admin: (path) => fetch(gateway.baseUrl + path, { headers: { 'x-api-key': adminKey } }),
  };
};

/** What an SDK made of an answer, or of an error. */
interface SdkOutcome {
  readonly status: number;
  readonly error?: string;
  /** The error's class. */
  readonly type?: string;
  readonly code?: string | null | undefined;
  readonly headers: Headers;
}

/** Asks for a model through an SDK, without retries. */
type SdkAsk = (baseUrl: string, key: string, model: string, more?: object) => Promise<SdkOutcome>;

const outcomeOf = async (asked: Promise<{ readonly response: Response }>): Promise<SdkOutcome> => {
  try {
    const { response } = await asked;
    return { status: response.status, headers: response.headers };
  } catch (error) {
    if (!(error instanceof Anthropic.APIError || error instanceof OpenAI.APIError)) throw error;
    // A bundler's number may follow the name.
    const type = error.constructor.name.replace(/\d+$/, '');
    const code = 'code' in error ? error.code : codeIn(error.error);
    return { status: error.status ?? 0, error: error.message, type, code, headers: new Headers(error.headers) };
  }
};

/** The code in the body of a Messages error, which the SDK passes on as it is. */
const codeIn = (body: unknown): string | undefined => /"code":"(\w+)"/.exec(JSON.stringify(body))?.[1];

const messages: SdkAsk = (baseURL, apiKey, model, more = {}) =>
  outcomeOf(
    new Anthropic({ baseURL, apiKey, maxRetries: 0 }).messages
      .create({ model, max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }], ...more })
      .withResponse(),
  );

const chat: SdkAsk = (baseUrl, apiKey, model, more = {}) =>
  outcomeOf(
    new OpenAI({ baseURL: `${baseUrl}/v1`, apiKey, maxRetries: 0 }).chat.completions
      .create({ model, max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }], ...more })
      .withResponse(),
  );

const responses: SdkAsk = (baseUrl, apiKey, model, { max_tokens: max = 100, ...more }: { max_tokens?: number } = {}) =>
  outcomeOf(
    new OpenAI({ baseURL: `${baseUrl}/v1`, apiKey, maxRetries: 0 }).responses
      .create({ model, max_output_tokens: max, input: 'Hello', ...more })
      .withResponse(),
  );

/** Each client protocol through its vendor's SDK. */
export const sdkAsks = { messages, chat, responses } as const;
