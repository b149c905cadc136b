import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import OpenAI6 from 'openai-6';

/** What a test asks of a model through an SDK. */
interface Question {
  /** In place of the conversation's model. */
  readonly model?: string;
  readonly text: string;
  readonly stream: boolean;
  readonly tools?: readonly string[];
  readonly image?: boolean;
  readonly think?: boolean;
  /** Members of the body beside those of the question, or in their place. */
  readonly more?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What the SDK made of the answer. */
export interface Learnt {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly input: unknown }[];
  readonly stop: string | null | undefined;
  readonly model: string;
  readonly usage: {
    readonly prompt: number;
    readonly cached: number;
    readonly output: number;
    readonly reasoning: number;
  };
}

/** A conversation held through one SDK: each question, or the results of the calls, goes with the whole history. */
interface Conversation {
  readonly ask: (question: Question) => Promise<Learnt>;
  /** Sends these results for the calls of the last answer. */
  readonly give: (results: readonly string[], question: Question) => Promise<Learnt>;
}

/** `forgets`: the client sends no reasoning back, as many do. */
export type SdkClient = (baseUrl: string, model: string, forgets?: boolean) => Conversation;

/** The smallest PNG there is. */
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const schema = { type: 'object' as const, properties: { city: { type: 'string' } }, required: ['city'] };

export const messagesSdk: SdkClient = (baseUrl, conversationModel, forgets) => {
  // Without a time of its own, the SDK refuses to ask for long answers that aren't streamed.
  const client = new Anthropic({ baseURL: baseUrl, apiKey: 'client-key', maxRetries: 0, timeout: 600_000 });
  const messages: Anthropic.MessageParam[] = [];
  const send = async ({
    stream,
    tools = [],
    think,
    model = conversationModel,
    more,
    headers = {},
  }: Question): Promise<Learnt> => {
    const body = {
      model,
      max_tokens: 4_000,
      messages,
      ...(tools.length > 0 && { tools: tools.map((name) => ({ name, input_schema: schema })) }),
      ...(think && { thinking: { type: 'enabled' as const, budget_tokens: 2_000 } }),
      ...more,
    };
    const message = stream
      ? await client.messages.stream(body, { headers }).finalMessage()
      : await client.messages.create(body, { headers });
    const kept = forgets ? message.content.filter(({ type }) => !type.endsWith('thinking')) : message.content;
    messages.push({ role: 'assistant', content: kept });
    const { usage } = message;
    const cached = usage.cache_read_input_tokens ?? 0;
    return {
      text: message.content.flatMap((block) => (block.type === 'text' ? block.text : [])).join(''),
      reasoning: message.content.flatMap((block) => (block.type === 'thinking' ? block.thinking : [])).join(''),
      calls: message.content
        .flatMap((block) => (block.type === 'tool_use' ? [block] : []))
        .map(({ id, name, input }) => ({ id, name, input })),
      stop: message.stop_reason,
      model: message.model,
      usage: {
        prompt: usage.input_tokens + cached + (usage.cache_creation_input_tokens ?? 0),
        cached,
        output: usage.output_tokens,
        reasoning: usage.output_tokens_details?.thinking_tokens ?? 0,
      },
    };
  };
  return {
    ask(question) {
      const image = {
        type: 'image' as const,
        source: { type: 'base64' as const, media_type: 'image/png' as const, data: png },
      };
      messages.push({
        role: 'user',
        content: [...(question.image ? [image] : []), { type: 'text', text: question.text }],
      });
      return send(question);
    },
    give(results, question) {
      const last = messages.at(-1)?.content;
      const calls = (Array.isArray(last) ? last : []).flatMap((block) => (block.type === 'tool_use' ? [block] : []));
      const content = calls.map(({ id }, index) => ({
        type: 'tool_result' as const,
        tool_use_id: id,
        content: results[index] ?? '',
      }));
      messages.push({ role: 'user', content });
      return send(question);
    },
  };
};

/** What look-alikes of Chat Completions add to a message; a client that knows them sends them back. */
interface Thoughts {
  reasoning_content?: string;
  reasoning?: string;
  reasoning_details?: unknown[];
}

const gatherThoughts = (gathered: Thoughts, message: object): void => {
  if ('reasoning_content' in message && typeof message.reasoning_content === 'string') {
    gathered.reasoning_content = (gathered.reasoning_content ?? '') + message.reasoning_content;
  }
  if ('reasoning' in message && typeof message.reasoning === 'string') {
    gathered.reasoning = (gathered.reasoning ?? '') + message.reasoning;
  }
  if ('reasoning_details' in message && Array.isArray(message.reasoning_details)) {
    gathered.reasoning_details = [...(gathered.reasoning_details ?? []), ...message.reasoning_details];
  }
};

const withoutThoughts = ({ role, content, tool_calls }: OpenAI.ChatCompletionMessage) => ({
  role,
  content,
  ...(tool_calls && { tool_calls }),
});

/** One major version of the OpenAI SDK. */
type OpenAiSdk = new (options: { baseURL: string; apiKey: string; maxRetries: number }) => OpenAI;

/** `knows`: the client puts together what look-alikes add to the wire; the SDK by itself keeps the last piece alone. */
const chatSdkThat =
  (knows: boolean, Sdk: OpenAiSdk): SdkClient =>
  (baseUrl, conversationModel, forgets) => {
    const client = new Sdk({ baseURL: `${baseUrl}/v1`, apiKey: 'client-key', maxRetries: 0 });
    const messages: OpenAI.ChatCompletionMessageParam[] = [];
    const send = async ({
      stream,
      tools = [],
      think,
      model = conversationModel,
      more,
      headers = {},
    }: Question): Promise<Learnt> => {
      const body = {
        model,
        max_completion_tokens: 4_000,
        messages,
        ...(tools.length > 0 && {
          tools: tools.map((name) => ({ type: 'function' as const, function: { name, parameters: schema } })),
        }),
        ...(think && { reasoning_effort: 'medium' as const }),
        ...more,
      };
      const gathered: Thoughts = {};
      const completion = stream
        ? await client.chat.completions
            .stream({ ...body, stream_options: { include_usage: true } }, { headers })
            .on('chunk', (chunk) => {
              const delta = chunk.choices[0]?.delta;
              if (delta) gatherThoughts(gathered, delta);
            })
            .finalChatCompletion()
        : await client.chat.completions.create(body, { headers });
      const [choice] = completion.choices;
      if (!choice) throw new Error('no choice');
      const { message } = choice;
      if (!stream) gatherThoughts(gathered, message);
      const kept = knows ? { ...message, ...gathered } : message;
      messages.push(forgets ? withoutThoughts(message) : kept);
      const { usage } = completion;
      return {
        text: message.content ?? '',
        reasoning: gathered.reasoning_content ?? gathered.reasoning ?? '',
        calls: (message.tool_calls ?? []).flatMap((call) =>
          call.type === 'function'
            ? [{ id: call.id, name: call.function.name, input: JSON.parse(call.function.arguments) }]
            : [],
        ),
        stop: choice.finish_reason,
        model: completion.model,
        usage: {
          prompt: usage?.prompt_tokens ?? -1,
          cached: usage?.prompt_tokens_details?.cached_tokens ?? 0,
          output: usage?.completion_tokens ?? -1,
          reasoning: usage?.completion_tokens_details?.reasoning_tokens ?? 0,
        },
      };
    };
    return {
      ask(question) {
        const image = { type: 'image_url' as const, image_url: { url: `data:image/png;base64,${png}` } };
        messages.push({
          role: 'user',
          content: [...(question.image ? [image] : []), { type: 'text', text: question.text }],
        });
        return send(question);
      },
      give(results, question) {
        const last = messages.at(-1);
        const calls = (last?.role === 'assistant' && last.tool_calls) || [];
        for (const [index, { id }] of calls.entries()) {
          messages.push({ role: 'tool', tool_call_id: id, content: results[index] ?? '' });
        }
        return send(question);
      },
    };
  };

/** The SDK and nothing more. */
export const bareChatSdk = chatSdkThat(false, OpenAI);

const responsesSdkOf =
  (Sdk: OpenAiSdk): SdkClient =>
  (baseUrl, conversationModel, forgets) => {
    const client = new Sdk({ baseURL: `${baseUrl}/v1`, apiKey: 'client-key', maxRetries: 0 });
    const input: OpenAI.Responses.ResponseInputItem[] = [];
    const send = async ({
      stream,
      tools = [],
      think,
      model = conversationModel,
      more,
      headers = {},
    }: Question): Promise<Learnt> => {
      const body = {
        model,
        max_output_tokens: 4_000,
        input,
        store: false,
        include: ['reasoning.encrypted_content' as const],
        ...(tools.length > 0 && {
          tools: tools.map((name) => ({ type: 'function' as const, name, parameters: schema, strict: false })),
        }),
        ...(think && { reasoning: { effort: 'medium' as const, summary: 'auto' as const } }),
        ...more,
      };
      const response = stream
        ? await client.responses.stream(body, { headers }).finalResponse()
        : await client.responses.create(body, { headers });
      const kept = response.output.filter(({ type }) => !forgets || type !== 'reasoning');
      input.push(...kept.map(({ ...item }) => item as OpenAI.Responses.ResponseInputItem));
      const { usage } = response;
      return {
        text: response.output
          .flatMap((item) => (item.type === 'message' ? item.content : []))
          .map((part) => (part.type === 'output_text' ? part.text : ''))
          .join(''),
        reasoning: response.output
          .flatMap((item) => (item.type === 'reasoning' ? [...item.summary, ...(item.content ?? [])] : []))
          .map(({ text }) => text)
          .join(''),
        calls: response.output.flatMap((item) =>
          item.type === 'function_call'
            ? [{ id: item.call_id, name: item.name, input: JSON.parse(item.arguments) }]
            : [],
        ),
        stop: response.status,
        model: response.model,
        usage: {
          prompt: usage?.input_tokens ?? -1,
          cached: usage?.input_tokens_details.cached_tokens ?? 0,
          output: usage?.output_tokens ?? -1,
          reasoning: usage?.output_tokens_details.reasoning_tokens ?? 0,
        },
      };
    };
    return {
      ask(question) {
        const image = {
          type: 'input_image' as const,
          detail: 'auto' as const,
          image_url: `data:image/png;base64,${png}`,
        };
        input.push({
          role: 'user',
          content: [...(question.image ? [image] : []), { type: 'input_text', text: question.text }],
        });
        return send(question);
      },
      give(results, question) {
        const answered = input.findLastIndex(
          (item) => item.type === 'function_call_output' || ('role' in item && item.role === 'user'),
        );
        const open = input.slice(answered + 1).flatMap((item) => (item.type === 'function_call' ? [item] : []));
        for (const [index, { call_id }] of open.entries()) {
          input.push({ type: 'function_call_output', call_id, output: results[index] ?? '' });
        }
        return send(question);
      },
    };
  };

export const chatSdk = chatSdkThat(true, OpenAI);
export const responsesSdk = responsesSdkOf(OpenAI);

/** The major version before, which many programs still have. */
export const formerChatSdk = chatSdkThat(true, OpenAI6);
export const formerResponsesSdk = responsesSdkOf(OpenAI6);
