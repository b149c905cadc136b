import type { ExecutionContext } from 'ava';
import { request } from 'undici';
import type { JsonObject } from '../../engine/model/json/json.ts';
import { startGateway } from '../support/gateway.ts';
import { type Script, type ScriptedUpstream, startUpstream } from '../support/upstreams/upstream.ts';
import { type ClientName, clients } from './rig.ts';

/** What a client gets over HTTP. */
interface Got {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** A gateway in front of one scripted upstream that speaks this format. */
interface Rig {
  readonly upstream: ScriptedUpstream;
  /** Asks, with the least that the client's protocol demands around `body`. */
  readonly post: (client: ClientName, body?: JsonObject, headers?: Readonly<Record<string, string>>) => Promise<Got>;
}

/** The least that each protocol demands. */
const least: Readonly<Record<ClientName, JsonObject>> = {
  messages: { max_tokens: 100, messages: [{ role: 'user', content: 'hi' }] },
  chat: { messages: [{ role: 'user', content: 'hi' }] },
  responses: { input: 'hi' },
};

/** Runs `use` on a gateway of its own; `format` is a vendor's row, or `responses` for the other protocol of `openai`. */
export const overGateway = async (
  t: ExecutionContext,
  format: string,
  script: Script,
  use: (rig: Rig) => Promise<void>,
  config: object = {},
): Promise<void> => {
  const upstream = await startUpstream(script);
  const gateway = await startGateway({
    LOG: false,
    // What these tests are about happens in one try.
    RETRY: { attempts: 0 },
    Providers: [{ name: 'p', baseUrl: upstream.url, apiKey: 'k', models: ['m'] }],
    Router: { default: 'p,m' },
    transformers: [
      format === 'responses'
        ? { name: 'openai', provider: 'p', options: { api: 'responses', fullResponses: true } }
        : { name: format, provider: 'p' },
    ],
    ...config,
  });
  t.teardown(async () => {
    await gateway.stop();
    await upstream.close();
  });
  await use({
    upstream,
    async post(client, body = {}, headers = {}) {
      const answer = await request(`${gateway.baseUrl}${clients[client].path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ model: 'p,m', ...least[client], ...body }),
      });
      return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() };
    },
  });
};
