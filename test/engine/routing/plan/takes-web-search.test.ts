import test from 'ava';
import { clientProtocols } from '../../../../protocols/index.ts';
import { configOf, gatewayOf } from '../../../support/gateway-of.ts';

/** Whether a web search of the client's is passed on, by base URL and model. */
const rows: readonly (readonly [baseUrl: string, model: string, passedOn: boolean])[] = [
  ['https://api.anthropic.com', 'claude-opus-5-5', true],
  ['https://api.openai.com/v1', 'gpt-6.2-sol', true],
  ['https://generativelanguage.googleapis.com', 'gemini-4-carbon', true],
  ['https://openrouter.ai/api/v1', 'any/model', true],
  ['https://api.groq.com/openai/v1', 'groq/compound', true],
  ['https://api.groq.com/openai/v1', 'openai/gpt-oss-120b', false],
  ['https://api.deepseek.com', 'deepseek-v4-pro', false],
  ['http://127.0.0.1:8080/v1', 'qwen3.8-27b', false],
];

test('a destination says whether a web search is passed on to it', (t) => {
  const Providers = rows.map(([baseUrl, model], index) => ({
    name: `p${index}`,
    baseUrl,
    apiKey: 'k',
    models: [model],
  }));
  const config = configOf({ Providers });
  const gateway = gatewayOf(t, config);
  const [{ protocol: client } = { protocol: undefined }] = clientProtocols;
  if (!client) return t.fail();
  for (const [index, provider] of config.providers.entries()) {
    const [, model = '', passedOn] = rows[index] ?? [];
    t.is(
      gateway.planFor({ client, provider, model }).destination.webSearch,
      passedOn ?? false,
      `${provider.baseUrl} ${model}`,
    );
  }
  return undefined;
});
