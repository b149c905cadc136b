import { type ClientTool, type OfferedModel, routedName } from './tool.ts';

/** GitHub Copilot CLI. Source: its documentation, "Using your own model provider"; tried with version 1.0.102. */
export const copilot: ClientTool = {
  name: 'copilot',
  title: 'GitHub Copilot CLI',
  protocol: 'chat',
  commands: ['copilot'],
  variables: ({ baseUrl, apiKey, model, context, maxOutput }) => ({
    COPILOT_PROVIDER_BASE_URL: `${baseUrl}/v1`,
    COPILOT_PROVIDER_TYPE: 'openai',
    COPILOT_PROVIDER_WIRE_API: 'completions',
    COPILOT_PROVIDER_API_KEY: apiKey,
    COPILOT_MODEL: model,
    ...(context !== undefined && { COPILOT_PROVIDER_MAX_PROMPT_TOKENS: String(context) }),
    ...(maxOutput !== undefined && { COPILOT_PROVIDER_MAX_OUTPUT_TOKENS: String(maxOutput) }),
    // A setting for another provider.
    COPILOT_PROVIDER_BEARER_TOKEN: '',
    COPILOT_PROVIDER_API_KEY_COMMAND: '',
    COPILOT_PROVIDER_HEADERS: '',
    COPILOT_PROVIDER_TRANSPORT: '',
    COPILOT_PROVIDER_MODEL_ID: '',
    COPILOT_PROVIDER_WIRE_MODEL: '',
  }),
  preferred: ['COPILOT_MODEL', 'COPILOT_PROVIDER_MAX_PROMPT_TOKENS', 'COPILOT_PROVIDER_MAX_OUTPUT_TOKENS'],
  notes: ['No GitHub login is needed.'],
};

/** Qwen Code. Source: its documentation, "Authentication"; tried with version 0.24.4. */
export const qwen: ClientTool = {
  name: 'qwen',
  title: 'Qwen Code',
  protocol: 'chat',
  commands: ['qwen'],
  variables: ({ baseUrl, apiKey, model }) => ({
    OPENAI_BASE_URL: `${baseUrl}/v1`,
    OPENAI_API_KEY: apiKey,
    OPENAI_MODEL: model,
  }),
  preferred: ['OPENAI_MODEL'],
  notes: [
    'A way to log in that is chosen in its settings wins over the variables, unless it is started with `--auth-type openai`.',
  ],
};

/**
 * Kimi Code. Source: its documentation, "Environment variables", "Define a model from environment variables": with a name there, it
 * makes a provider of its own, and reads no key from elsewhere. Not tried.
 */
export const kimi: ClientTool = {
  name: 'kimi',
  title: 'Kimi Code',
  protocol: 'chat',
  commands: ['kimi'],
  variables: ({ baseUrl, apiKey, model, context }) => ({
    KIMI_MODEL_PROVIDER_TYPE: 'openai',
    KIMI_MODEL_BASE_URL: `${baseUrl}/v1`,
    KIMI_MODEL_API_KEY: apiKey,
    KIMI_MODEL_NAME: model,
    ...(context !== undefined && { KIMI_MODEL_MAX_CONTEXT_SIZE: String(context) }),
  }),
  preferred: ['KIMI_MODEL_NAME', 'KIMI_MODEL_MAX_CONTEXT_SIZE'],
  notes: ['Not tried with the program itself.'],
};

/**
 * Antigravity CLI. Source: Google's documentation, "Connect to an enterprise gateway"; the path behind the base URL by the tests of others
 * with version 1.2.16. Not tried.
 */
export const antigravity: ClientTool = {
  name: 'antigravity',
  title: 'Antigravity CLI',
  protocol: 'chat',
  commands: ['agy'],
  variables: ({ baseUrl, apiKey, model, models }) => ({
    AGY_LLM_GATEWAY_URL: `${baseUrl}/v1`,
    AGY_LLM_GATEWAY_API_KEY: apiKey,
    AGY_LLM_GATEWAY_WIRE_PROTOCOL: 'openai',
    AGY_LLM_GATEWAY_MODELS: [
      ...new Set([model.slice(model.indexOf(',') + 1), routedName, ...models.flatMap(bareName)]),
    ].join(','),
  }),
  preferred: ['AGY_LLM_GATEWAY_MODELS'],
  notes: [
    'No login at Google is needed. Not tried with the program itself.',
    'Names in the list are divided by commas, so a model stands there without its provider.',
  ],
};

/** Without the provider: the list's names have commas between them. */
const bareName = ({ name }: OfferedModel): readonly string[] => {
  const [, ...rest] = name.split(',');
  return rest.length === 1 ? rest : [];
};

/**
 * aider. Source: its documentation, "Options reference", "Configuration with .env": its own variables win over `.aider.conf.yml`
 * and over `OPENAI_API_BASE`, but those of `.env` files win over the environment. Not tried.
 */
export const aider: ClientTool = {
  name: 'aider',
  title: 'aider',
  protocol: 'chat',
  commands: ['aider'],
  variables: ({ baseUrl, apiKey, model }) => ({
    AIDER_OPENAI_API_BASE: `${baseUrl}/v1`,
    AIDER_OPENAI_API_KEY: apiKey,
    // The part before the slash selects the protocol; it isn't sent.
    AIDER_MODEL: `openai/${model}`,
    AIDER_TIMEOUT: '600',
  }),
  preferred: ['AIDER_MODEL', 'AIDER_TIMEOUT'],
  notes: ['The prefix `openai/` selects the API that aider uses. It is not sent to the gateway.'],
};
