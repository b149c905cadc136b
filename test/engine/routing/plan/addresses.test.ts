import test from 'ava';
import { validateConfig } from '../../../../engine/config/validate.ts';
import { probeRequest } from '../../../../engine/model/request.ts';
import { compilePlan, type Plan, showPlan } from '../../../../engine/routing/plan/plan.ts';
import { clientProtocols } from '../../../../protocols/index.ts';
import { defaultFormat, formats, stages } from '../../../../transformers/index.ts';

const planOf = (baseUrl: string, model: string, wire: string, options?: object): Plan => {
  const written = {
    Providers: [{ name: 'p', baseUrl, apiKey: 'k', models: [model] }],
    ...(options && { transformers: [{ name: 'openai', provider: 'p', options }] }),
  };
  const result = validateConfig(JSON.parse(JSON.stringify(written)), {});
  const client = [...clientProtocols.values()].map(({ protocol }) => protocol).find((one) => one.wire === wire);
  if ('faults' in result || !client) throw new Error('no such configuration or client');
  const [provider] = result.config.providers;
  if (!provider) throw new Error('no provider');
  const registry = { formats, stages, defaultFormat, custom: new Map() };
  return compilePlan(result.config, registry, { client, provider, model });
};

/** The addresses that vendors' own pages name: their format, why, the URL that is called, and the header of the key. */
const addresses: readonly (readonly [baseUrl: string, client: string, model: string, expected: string])[] = [
  ['https://api.openai.com', 'chat', 'gpt-4.1', 'openai host /v1/chat/completions authorization'],
  ['https://api.openai.com/v1/responses', 'messages', 'gpt-6', 'openai host /v1/responses authorization'],
  ['https://api.deepseek.com', 'chat', 'm', 'deepseek host /v1/chat/completions authorization'],
  ['https://api.deepseek.com/chat/completions', 'chat', 'm', 'deepseek host /chat/completions authorization'],
  ['https://api.deepseek.com/anthropic', 'messages', 'm', 'anthropic path /anthropic/v1/messages x-api-key'],
  ['https://api.deepseek.com/v1/responses', 'responses', 'm', 'openai path /v1/responses authorization'],
  ['https://api.moonshot.ai/anthropic/', 'messages', 'm', 'anthropic path /anthropic/v1/messages x-api-key'],
  ['https://api.z.ai/api/anthropic', 'messages', 'm', 'anthropic path /api/anthropic/v1/messages x-api-key'],
  [
    'https://api.z.ai/api/coding/paas/v4',
    'messages',
    'm',
    'openai plain /api/coding/paas/v4/chat/completions authorization',
  ],
  ['https://api.minimax.io/anthropic/v1', 'messages', 'm', 'anthropic path /anthropic/v1/messages x-api-key'],
  ['https://models.example/v1/messages', 'messages', 'm', 'anthropic path /v1/messages x-api-key'],
  ['https://models.example/v1/responses', 'messages', 'm', 'openai path /v1/responses authorization'],
  ['https://models.example/v1/chat/completions', 'messages', 'm', 'openai path /v1/chat/completions authorization'],
  ['https://openrouter.ai/api/v1', 'chat', 'm', 'openrouter host /api/v1/chat/completions authorization'],
  ['https://openrouter.ai/api/v1/messages', 'messages', 'm', 'anthropic path /api/v1/messages authorization'],
  [
    'https://openrouter.ai/api/v1/chat/completions',
    'chat',
    'm',
    'openrouter host /api/v1/chat/completions authorization',
  ],
  ['https://api.anthropic.com/v1/messages', 'messages', 'm', 'anthropic host /v1/messages x-api-key'],
  [
    'https://generativelanguage.googleapis.com/v1beta/openai/',
    'messages',
    'gemini-3.8-flash',
    'openai path /v1beta/openai/chat/completions authorization',
  ],
  [
    'https://generativelanguage.googleapis.com',
    'messages',
    'gemini-3.8-flash',
    'gemini host /v1beta/models/gemini-3.8-flash:generateContent x-goog-api-key',
  ],
  [
    'https://r.openai.azure.com/openai/deployments/d?api-version=1',
    'chat',
    'gpt-4.1',
    'openai host /openai/deployments/d/chat/completions?api-version=1 api-key',
  ],
  [
    'https://r.openai.azure.com/openai/deployments/d/chat/completions?api-version=1',
    'messages',
    'gpt-6',
    'openai host /openai/deployments/d/chat/completions?api-version=1 api-key',
  ],
  ['https://r.openai.azure.com/openai/v1', 'responses', 'gpt-6', 'openai host /openai/v1/responses api-key'],
  ['https://r.openai.azure.com', 'chat', 'gpt-4.1', 'openai host /openai/v1/chat/completions api-key'],
  ['https://r.services.ai.azure.com/openai/v1/', 'chat', 'm', 'openai host /openai/v1/chat/completions api-key'],
  ['https://r.services.ai.azure.com/anthropic', 'messages', 'm', 'anthropic path /anthropic/v1/messages x-api-key'],
  ['https://api.githubcopilot.com', 'messages', 'm', 'openai plain /chat/completions authorization'],
  ['https://api.githubcopilot.com/v1/messages', 'messages', 'm', 'anthropic path /v1/messages authorization'],
  ['http://localhost:11434', 'messages', 'm', 'openai plain /v1/chat/completions authorization'],
  ['http://localhost:11434/v1/messages', 'messages', 'm', 'anthropic path /v1/messages x-api-key'],
  ['https://ollama.com/v1/messages', 'messages', 'm', 'anthropic path /v1/messages authorization'],
  [
    'https://dashscope.aliyuncs.com/compatible-mode/v1',
    'messages',
    'm',
    'openai plain /compatible-mode/v1/chat/completions authorization',
  ],
  [
    'https://us-east5-aiplatform.googleapis.com/v1/projects/team-1/locations/us-east5',
    'messages',
    'claude-opus-4-5@20251101',
    'anthropic host /v1/projects/team-1/locations/us-east5/publishers/anthropic/models/claude-opus-4-5@20251101:rawPredict authorization',
  ],
  [
    'https://aiplatform.googleapis.com/v1/projects/team-1/locations/global',
    'chat',
    'gemini-4-carbon',
    'gemini host /v1/projects/team-1/locations/global/publishers/google/models/gemini-4-carbon:generateContent authorization',
  ],
  [
    'https://aiplatform.eu.rep.googleapis.com/v1/projects/team-1/locations/eu',
    'chat',
    'gemini-4-carbon',
    'gemini host /v1/projects/team-1/locations/eu/publishers/google/models/gemini-4-carbon:generateContent authorization',
  ],
  [
    'https://aiplatform.googleapis.com',
    'chat',
    'gemini-4-carbon',
    'gemini host /v1/publishers/google/models/gemini-4-carbon:generateContent x-goog-api-key',
  ],
  [
    'https://aiplatform.googleapis.com/v1/projects/team-1/locations/global',
    'chat',
    'meta/llama-4-maverick',
    'openai plain /v1/projects/team-1/locations/global/endpoints/openapi/chat/completions authorization',
  ],
  [
    'https://aiplatform.googleapis.com/v1/projects/team-1/locations/global/endpoints/openapi',
    'chat',
    'google/gemini-4-carbon',
    'openai plain /v1/projects/team-1/locations/global/endpoints/openapi/chat/completions authorization',
  ],
  [
    'https://bedrock-runtime.us-east-1.amazonaws.com',
    'messages',
    'us.anthropic.claude-opus-4-5-v1:0',
    'anthropic host /model/us.anthropic.claude-opus-4-5-v1%3A0/invoke authorization',
  ],
  [
    'https://bedrock-runtime.us-east-1.amazonaws.com',
    'chat',
    'arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-x',
    'anthropic host /model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ainference-profile%2Fus.anthropic.claude-x/invoke authorization',
  ],
  [
    'https://bedrock-runtime.us-east-1.amazonaws.com',
    'messages',
    'openai.gpt-oss-120b-1:0',
    'openai plain /openai/v1/chat/completions authorization',
  ],
  [
    'https://bedrock-runtime.us-east-1.amazonaws.com/openai/v1',
    'chat',
    'openai.gpt-oss-120b-1:0',
    'openai plain /openai/v1/chat/completions authorization',
  ],
  [
    'https://bedrock-runtime.us-east-1.amazonaws.com/anthropic',
    'messages',
    'us.anthropic.claude-opus-4-5-v1:0',
    'anthropic path /anthropic/v1/messages authorization',
  ],
  [
    'https://bedrock-mantle.us-east-1.api.aws/anthropic',
    'messages',
    'anthropic.claude-opus-5-5',
    'anthropic path /anthropic/v1/messages authorization',
  ],
  [
    'https://bedrock-mantle.us-east-1.api.aws/v1',
    'chat',
    'openai.gpt-oss-120b',
    'openai plain /v1/chat/completions authorization',
  ],
];

for (const [baseUrl, client, model, expected] of addresses) {
  test(`${client} → ${baseUrl} ${model}`, (t) => {
    const { choice, graph, target } = planOf(baseUrl, model, client);
    const url = new URL(graph.callUpstream.about.url ?? '');
    const headers = graph.callUpstream.work({
      apiKey: 'k',
      baseUrl: target.baseUrl,
      options: target.options,
      clientHeader: () => undefined,
      request: probeRequest(model),
    });
    const keyHeader = Object.keys(headers).find((name) => /key|authorization/.test(name));
    t.is(`${choice.format.name} ${choice.because} ${url.pathname}${target.baseUrl.search} ${keyHeader}`, expected);
  });
}

const rowsOf = (...given: Parameters<typeof planOf>): readonly string[] =>
  (showPlan(planOf(...given), []).format.rows ?? []).map(({ kind, name, because }) => `${kind} ${name} ${because}`);

test('a plan names the known host and families, and how each was recognised', (t) => {
  t.deepEqual(rowsOf('https://models.example/v1', 'm', 'chat'), []);
  t.deepEqual(rowsOf('https://api.mistral.ai/v1', 'm', 'chat'), ['host mistral host']);
  t.deepEqual(rowsOf('http://127.0.0.1:8000/v1', 'vendor/Qwen3.5', 'chat'), ['host vllm port', 'family qwen model']);
  const options = { host: 'litellm', family: 'mistral' };
  t.deepEqual(rowsOf('https://models.example/v1', 'm', 'chat', options), [
    'host litellm option',
    'family mistral option',
  ]);
  t.deepEqual(rowsOf('http://127.0.0.1:8000/v1', 'qwen3', 'chat', { host: 'none', family: 'none' }), []);
  t.deepEqual(rowsOf('https://openrouter.ai/api/v1', 'qwen/qwen3.8', 'chat'), ['family qwen model']);
  t.deepEqual(rowsOf('https://openrouter.ai/api/v1', 'x-ai/grok-4.5', 'chat'), []);
  const { graph } = planOf('https://api.mistral.ai/v1', 'm', 'chat');
  t.deepEqual(graph.encodeRequest.about.rows, ['host mistral: host']);
});

const unspoken: readonly (readonly [baseUrl: string, warning: RegExp | undefined])[] = [
  [
    'https://us-east5-aiplatform.googleapis.com/v1/projects/p/locations/us-central1',
    /^Providers\[0\]\.baseUrl names the location us-central1, but the host serves us-east5$/,
  ],
  ['https://aiplatform.googleapis.com/v1/projects/p/locations/us-east5', /but the host serves global$/],
  ['https://aiplatform.googleapis.com/v1/projects/p', /names a project without its location/],
  ['http://localhost:11434/api/chat', /^Providers\[0\]\.baseUrl ends in \/api\/chat/],
  ['http://localhost:8080/completions/', /ends in \/completions/],
  ['https://h.example/v1/embeddings', /ends in \/embeddings/],
  ['https://r.example/openai/deployments/d', /without the parameter api-version/],
  ['https://r.example/openai/deployments/d?api-version=1', undefined],
  ['https://h.example/v1/chat/completions', undefined],
  ['https://h.example/api', undefined],
];

for (const [baseUrl, warning] of unspoken) {
  test(`${baseUrl} ${warning ? 'causes a warning' : 'causes none'}`, (t) => {
    const { warnings } = validateConfig({ Providers: [{ name: 'p', baseUrl, apiKey: 'k', models: ['m'] }] }, {});
    const said = warnings.map(({ path, message }) => `${path} ${message}`).filter((line) => line.includes('baseUrl'));
    if (warning) t.regex(said.join('\n'), warning);
    else t.deepEqual(said, []);
  });
}

test('a plan names what a cloud wants to be otherwise in a body that passes', (t) => {
  const { nodes } = planOf(
    'https://bedrock-runtime.us-east-1.amazonaws.com',
    'us.anthropic.claude-x',
    'messages',
  ).graph;
  const passing = nodes.find(({ step }) => step === 'forward-request');
  t.deepEqual(passing?.about.but, ['model', 'credentials', 'stream', 'anthropic_version']);
});
