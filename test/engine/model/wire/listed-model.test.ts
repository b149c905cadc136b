import test from 'ava';
import type { Json } from '../../../../engine/model/json/json.ts';
import type { ListedModel } from '../../../../engine/model/models/model-facts.ts';
import { readListedModel } from '../../../../engine/model/wire/listed-model.ts';

/** Rows as the vendors' references show them. */
const rows: readonly (readonly [vendor: string, row: Json, model: ListedModel | undefined])[] = [
  ['one that says nothing', { id: 'm', object: 'model' }, { id: 'm' }],
  [
    'OpenRouter',
    {
      id: 'v/m',
      context_length: 262_144,
      architecture: { input_modalities: ['text', 'image', 'file'] },
      pricing: { prompt: '0.000003', completion: '0.000015', input_cache_read: '3e-7', input_cache_write: '-1' },
      top_provider: { context_length: 131_072, max_completion_tokens: 32_768 },
      supported_parameters: ['tools', 'reasoning'],
      expiration_date: null,
    },
    {
      id: 'v/m',
      context: 131_072,
      maxOutput: 32_768,
      input: ['text', 'image', 'pdf'],
      tools: true,
      price: { input: 3, output: 15, cacheRead: 0.3 },
    },
  ],
  [
    'Anthropic',
    {
      id: 'm',
      max_input_tokens: 1_000_000,
      max_tokens: 128_000,
      retires_at: '2026-12-01T00:00:00Z',
      capabilities: {
        image_input: { supported: true },
        pdf_input: { supported: true },
        thinking: { supported: true },
      },
    },
    {
      id: 'm',
      context: 1_000_000,
      maxOutput: 128_000,
      input: ['text', 'image', 'pdf'],
      reasoning: true,
      retires: '2026-12-01',
    },
  ],
  [
    'DeepSeek',
    { id: 'm', context_window: 1_048_576, max_output_tokens: 393_216, input_modalities: ['text', 'image'] },
    { id: 'm', context: 1_048_576, maxOutput: 393_216, input: ['text', 'image'] },
  ],
  [
    'Groq',
    { id: 'm', context_window: 131_072, max_completion_tokens: 8_192 },
    { id: 'm', context: 131_072, maxOutput: 8_192 },
  ],
  ['vLLM', { id: 'm', max_model_len: 4_096 }, { id: 'm', context: 4_096 }],
  ['LM Studio', { id: 'm', max_context_length: 32_768, loaded_context_length: 16_384 }, { id: 'm', context: 16_384 }],
  ['llama.cpp', { id: 'm', meta: { n_ctx_train: 8_192 } }, { id: 'm', context: 8_192 }],
  [
    'Mistral',
    { id: 'm', max_context_length: 128_000, capabilities: { function_calling: true, vision: false } },
    { id: 'm', context: 128_000, input: ['text'], tools: true },
  ],
  [
    'Together',
    { id: 'm', context_length: 8_192, pricing: { input: 0.9, output: 0.9, cached_input: 0 } },
    { id: 'm', context: 8_192, price: { input: 0.9, output: 0.9, cacheRead: 0 } },
  ],
  ['OpenAI', { id: 'm', shutdown_date: '2027-01-14' }, { id: 'm', retires: '2027-01-14' }],
  ['numbers that mean nothing', { id: 'm', context_length: 0, max_tokens: -1, max_model_len: 1.5 }, { id: 'm' }],
  ['prices that mean nothing', { id: 'm', pricing: { prompt: 'free', completion: '0.1' } }, { id: 'm' }],
  ['no name', { context_length: 9 }, undefined],
  ['a name that is too long', { id: 'm'.repeat(257) }, undefined],
];
for (const [vendor, row, model] of rows) {
  test(`a row of a list: ${vendor}`, (t) => t.deepEqual(readListedModel(row), model));
}
