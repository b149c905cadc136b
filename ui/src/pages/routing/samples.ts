import type { JsonObject } from '../../api/json.ts';
import type { Protocol } from '../../api/protocols.ts';

/** A sample request. */
export interface Sample {
  readonly name: 'plain' | 'long' | 'image' | 'search' | 'small' | 'think' | 'exact';
  readonly title: string;
}

/** One for each rule. */
export const samples: readonly Sample[] = [
  { name: 'plain', title: 'Plain question' },
  { name: 'long', title: 'Long context' },
  { name: 'image', title: 'Image' },
  { name: 'search', title: 'Web search' },
  { name: 'small', title: 'Background task' },
  { name: 'think', title: 'Thinking' },
  { name: 'exact', title: 'Named destination' },
];

/** About 80,000 tokens: more than the default threshold. */
const longText = 'The points are set, the signal is clear, the train may pass. '.repeat(6_000);

/** A red dot of one pixel. */
const image = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';

/** The sample's body in a client protocol. `destination` is any `provider,model`. */
export const sampleBody = (protocol: Protocol, name: Sample['name'], destination: string): JsonObject => {
  const text = name === 'long' ? longText : 'What is a junctor?';
  const model = name === 'exact' ? destination : name === 'small' ? 'some-haiku' : 'any-model';
  return { messages: messagesBody, chat: chatBody, responses: responsesBody }[protocol](name, model, text);
};

const messagesBody = (name: Sample['name'], model: string, text: string): JsonObject => ({
  model,
  max_tokens: 1024,
  ...(name === 'think' && { max_tokens: 8192, thinking: { type: 'enabled', budget_tokens: 4096 } }),
  ...(name === 'search' && { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }),
  messages: [
    {
      role: 'user',
      content:
        name === 'image'
          ? [
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data: image } },
              { type: 'text', text: 'What is this?' },
            ]
          : text,
    },
  ],
});

const chatBody = (name: Sample['name'], model: string, text: string): JsonObject => ({
  model,
  ...(name === 'think' && { reasoning_effort: 'high' }),
  ...(name === 'search' && { web_search_options: {} }),
  messages: [
    {
      role: 'user',
      content:
        name === 'image'
          ? [
              { type: 'image_url', image_url: { url: `data:image/png;base64,${image}` } },
              { type: 'text', text: 'What is this?' },
            ]
          : text,
    },
  ],
});

const responsesBody = (name: Sample['name'], model: string, text: string): JsonObject => ({
  model,
  ...(name === 'think' && { reasoning: { effort: 'high' } }),
  ...(name === 'search' && { tools: [{ type: 'web_search' }] }),
  input:
    name === 'image'
      ? [
          {
            role: 'user',
            content: [
              { type: 'input_image', image_url: `data:image/png;base64,${image}` },
              { type: 'input_text', text: 'What is this?' },
            ],
          },
        ]
      : text,
});
