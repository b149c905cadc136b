/**
 * All names that telemetry uses. Those of GenAI have the status Development and may change, so they stand here alone.
 * Sources, read on 2026-11-24: open-telemetry/semantic-conventions-genai, pages "GenAI spans" and "GenAI metrics";
 * open-telemetry/semantic-conventions 1.42, `http`, `server`, `error` and `service`. The former's changelog announces counters
 * (`gen_ai.client.inference.tokens`) in place of `gen_ai.client.token.usage`, which its pages still have.
 */
export const attribute = {
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  requestModel: 'gen_ai.request.model',
  stream: 'gen_ai.request.stream',
  /** In seconds. */
  firstChunk: 'gen_ai.response.time_to_first_chunk',
  /** All tokens of the prompt, cached or not. */
  inputTokens: 'gen_ai.usage.input_tokens',
  cacheReadTokens: 'gen_ai.usage.cache_read.input_tokens',
  cacheWriteTokens: 'gen_ai.usage.cache_creation.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  reasoningTokens: 'gen_ai.usage.reasoning.output_tokens',
  tokenType: 'gen_ai.token.type',
  serverAddress: 'server.address',
  serverPort: 'server.port',
  errorType: 'error.type',
  method: 'http.request.method',
  route: 'http.route',
  status: 'http.response.status_code',
  /** Number of times that the call had been sent before. */
  resends: 'http.request.resend_count',
  serviceName: 'service.name',
  serviceVersion: 'service.version',
  serviceInstance: 'service.instance.id',
  // Attributes without a convention.
  requestId: 'junctor.request.id',
  client: 'junctor.client',
  preset: 'junctor.preset',
  scenario: 'junctor.scenario',
  /** The provider's name in the configuration. */
  configuredProvider: 'junctor.provider',
  attempts: 'junctor.attempts',
} as const;

/** Every route of the gateway continues a conversation. */
export const operation = 'chat';

/** Values of `error.type` for what is no fault. */
export const errorTypes = { clientGone: 'client_disconnected' } as const;

/** Events of a request's span. */
export const event = { retry: 'junctor.retry', fallback: 'junctor.fallback' } as const;

export const tokenTypes = { input: 'input', output: 'output' } as const;

/** Histograms, with the bounds of their buckets as the conventions advise. */
export const metric = {
  tokens: {
    name: 'gen_ai.client.token.usage',
    unit: '{token}',
    description: 'Number of input and output tokens used.',
    bounds: [1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864],
  },
  operation: {
    name: 'gen_ai.client.operation.duration',
    unit: 's',
    description: 'GenAI operation duration.',
    bounds: [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92],
  },
  firstChunk: {
    name: 'gen_ai.client.operation.time_to_first_chunk',
    unit: 's',
    description: 'Time to receive the first chunk.',
    bounds: [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160],
  },
  request: {
    name: 'http.server.request.duration',
    unit: 's',
    description: 'Duration of HTTP server requests.',
    bounds: [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30, 60, 120, 300],
  },
} as const;
