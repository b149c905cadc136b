import type { JsonObject } from '../model/json/json.ts';
import type { Reply, ReplyBlock } from '../model/reply.ts';
import type { ModelRequest, Part, Tool, Turn } from '../model/request.ts';

/** Tokens that an answer may have: reasoning comes first. */
export const usualTokens = 512;
/** Output tokens of a request with reasoning: its reasoning budget must be below this. */
export const reasoningTokens = 2_048;

/** Instructions, a question, and nothing else. */
export const question = (words: string, more: Partial<ModelRequest> = {}): ModelRequest => ({
  model: '',
  system: [],
  turns: [userTurn(textPart(words))],
  tools: [],
  maxTokens: usualTokens,
  stream: true,
  ...more,
});

export const textPart = (words: string): Part => ({ type: 'text', text: words });

export const userTurn = (...parts: readonly Part[]): Turn => ({ role: 'user', parts });

const city = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };

export const toolOf = (name: string, parameters: JsonObject = city): Tool => ({
  type: 'function',
  name,
  description: 'Tells the weather in a city.',
  parameters,
});

const lookUp = toolOf('get_weather');

export const toolQuestion = (more: Partial<ModelRequest> = {}): ModelRequest =>
  question('Please use the tool to get the weather in Łódź.', { tools: [lookUp], ...more });

export const twoToolsQuestion = (more: Partial<ModelRequest> = {}): ModelRequest =>
  question('Please use both tools at once, for the city of Łódź.', { tools: [lookUp, toolOf('get_time')], ...more });

/** A tool loop: the question, this answer with its calls, and a result for each. */
export const loopAfter = (asked: ModelRequest, { blocks }: Pick<Reply, 'blocks'>): ModelRequest => ({
  ...asked,
  turns: [
    ...asked.turns,
    { role: 'assistant', parts: blocks.flatMap(partOf) },
    userTurn(
      ...blocks.flatMap((block): Part[] =>
        block.type === 'tool-call'
          ? [{ type: 'tool-result', id: block.id, content: [{ type: 'text', text: 'Sunny.' }] }]
          : [],
      ),
    ),
  ],
});

const partOf = (block: ReplyBlock): readonly Part[] => {
  switch (block.type) {
    case 'text':
    case 'refusal':
      return block.text === '' ? [] : [textPart(block.text)];
    case 'thinking':
    case 'redacted-thinking':
      return [block];
    case 'tool-call':
      return [
        {
          type: 'tool-call',
          id: block.id,
          name: block.name,
          input: block.json,
          ...(block.signature && { signature: block.signature }),
        },
      ];
    case 'opaque':
      return [];
    default:
      return block satisfies never;
  }
};

/** An answer with one call, as a model's own: for models that call nothing by themselves. */
export const madeUpCall = (id: string): Pick<Reply, 'blocks'> => ({
  blocks: [{ type: 'tool-call', id, name: 'get_weather', json: '{"city":"Łódź"}' }],
});

/** A red picture of 16 by 16 pixels: some vendors refuse smaller ones. */
export const picture: Part = {
  type: 'image',
  source: {
    kind: 'base64',
    mediaType: 'image/png',
    data: 'iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAFklEQVR42mO4IyJCEmIY1TCqYfhqAAACcQQQFd0BdQAAAABJRU5ErkJggg==',
  },
};
