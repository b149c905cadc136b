import { bearerKey } from './chat-wire.ts';
import { counts, pieces, type Scripted, scripted, sse } from './script.ts';
import type { Vendor } from './vendor.ts';

interface ResponsesBody {
  readonly model: string;
  readonly input: string | readonly Item[];
  readonly stream?: boolean;
  readonly store?: boolean;
  readonly include?: readonly string[];
  readonly reasoning?: { readonly effort?: string; readonly summary?: string };
  readonly tools?: readonly { readonly type: string; readonly name?: string; readonly function?: unknown }[];
  readonly tool_choice?: unknown;
  readonly max_output_tokens?: number;
  readonly temperature?: number;
  readonly top_p?: number;
}

interface Item {
  readonly type?: string;
  readonly id?: string;
  readonly status?: string;
  readonly role?: string;
  readonly content?: string | readonly Part[] | null;
  readonly call_id?: string;
  readonly name?: string;
  readonly arguments?: unknown;
  readonly namespace?: string;
  readonly execution?: string;
  readonly input?: string;
  readonly tools?: readonly unknown[];
  readonly output?: string | readonly Part[];
  readonly summary?: readonly Part[];
  readonly encrypted_content?: string;
}

interface Part {
  readonly type: string;
  readonly text?: string;
  readonly image_url?: string;
  readonly annotations?: readonly unknown[];
  readonly logprobs?: readonly unknown[];
}

/** The only sealed reasoning that this vendor issued. */
const sealed = 'gAAAAABvendor-sealed_reasoning==';

/** What its compacted conversations begin with; the summary that was asked for follows, so that tests can tell them apart. */
export const compacted = 'gAAAAABvendor-compacted=';

/** A vendor of Responses that is as strict as the original. */
export const responsesVendor: Vendor<ResponsesBody> = {
  paths: /^\/v1\/responses$/,
  key: bearerKey,
  understand,
  complaint: findComplaint,
  failure: (status, message) => ({
    body: { error: { message, type: types[status] ?? 'server_error', param: null, code: codes[status] ?? null } },
    headers: status === 429 ? { 'retry-after': '7' } : {},
  }),
  answer(body, _url, script = scripted) {
    const items = itemsOf(script(understand(body)), body);
    return body.stream
      ? { type: 'stream', pieces: streamOf(items, body) }
      : { type: 'json', text: JSON.stringify(response(body, 'completed', items)) };
  },
  payload: sealed,
};

const types: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'invalid_request_error',
  429: 'requests',
};
const codes: Readonly<Record<number, string>> = { 401: 'invalid_api_key', 429: 'rate_limit_exceeded' };

const itemList = ({ input }: ResponsesBody): readonly Item[] =>
  typeof input === 'string' ? [{ role: 'user', content: input }] : input;

const textOf = (content: Item['content'] | Item['output']): string =>
  typeof content === 'string' ? content : (content ?? []).map(({ text = '' }) => text).join('');

function understand(body: ResponsesBody) {
  const items = itemList(body);
  const asked = items.findLastIndex(({ role }) => role === 'user');
  const newest = items[asked]?.content;
  return {
    text: textOf(newest),
    results: items
      .slice(asked + 1)
      .filter(({ type = '' }) => /_call_output$/.test(type))
      .map(({ output }) => textOf(output)),
    tools: (body.tools ?? []).flatMap(({ name }) => name ?? []),
    images: (Array.isArray(newest) ? newest : []).flatMap((part: Part) =>
      part.type === 'input_image' ? (/^data:([^;]+)/.exec(part.image_url ?? '')?.[1] ?? 'url') : [],
    ),
  };
}

const known = [
  ...['model', 'input', 'instructions', 'max_output_tokens', 'temperature', 'top_p', 'stream', 'stream_options'],
  ...['tools', 'tool_choice', 'parallel_tool_calls', 'text', 'reasoning', 'include', 'store', 'metadata', 'user'],
  ...[
    'client_metadata',
    'safety_identifier',
    'prompt_cache_key',
    'service_tier',
    'truncation',
    'max_tool_calls',
    'top_logprobs',
  ],
];
const idStarts: Readonly<Record<string, string>> = { reasoning: 'rs_', message: 'msg_', function_call: 'fc_' };

/** Source: OpenAI API reference, "Create a model response"; guides "Reasoning", "Function calling". */
function findComplaint(body: ResponsesBody): string | undefined {
  const { tools, tool_choice, max_output_tokens = 16, temperature, top_p, model } = body;
  const unknown = Object.keys(body).find((name) => !known.includes(name));
  if (unknown !== undefined) return `Unknown parameter: '${unknown}'.`;
  if (max_output_tokens < 16) return 'integer below minimum value: max_output_tokens';
  if (/^(?:gpt-5|o\d)/.test(model) && (temperature !== undefined || top_p !== undefined))
    return "Unsupported parameter: 'temperature'";
  // Codex sends `auto` without tools, and an empty list.
  if (!tools?.length && tool_choice !== undefined && tool_choice !== 'auto') return 'tool_choice without tools';
  if (tools?.some(({ type, name, function: nested }) => type === 'function' && (!name || nested !== undefined)))
    return "Missing required parameter: 'tools[0].name'.";
  return findItemComplaint(itemList(body), body);
}

const findItemComplaint = (items: readonly Item[], body: ResponsesBody): string | undefined => {
  const called = new Set<string>();
  let due: string[] = [];
  for (const [index, item] of items.entries()) {
    const type = item.type ?? 'message';
    const start = idStarts[type];
    if (item.id !== undefined && start && !item.id.startsWith(start))
      return `Invalid 'input[${index}].id': '${item.id}'. Expected an ID that begins with '${start}'.`;
    switch (type) {
      case 'message': {
        if (due.length > 0) return `No tool output found for function call ${due[0]}.`;
        if (!['user', 'assistant', 'system', 'developer'].includes(item.role ?? '')) return `role ${item.role}`;
        const allowed =
          item.role === 'assistant' ? ['output_text', 'refusal'] : ['input_text', 'input_image', 'input_file'];
        const parts = Array.isArray(item.content) ? item.content : [];
        const wrong = parts.find((part: Part) => !allowed.includes(part.type));
        if (wrong) return `Invalid value: '${wrong.type}' in a message of the ${item.role}.`;
        break;
      }
      case 'function_call':
      case 'custom_tool_call':
      case 'tool_search_call': {
        const given = { function_call: item.arguments, custom_tool_call: item.input, tool_search_call: '' }[type];
        if (typeof given !== 'string' || !item.call_id || (type !== 'tool_search_call' && !item.name))
          return `input[${index}] is incomplete`;
        if (type === 'tool_search_call' && (typeof item.arguments !== 'object' || item.execution !== 'client'))
          return `Invalid type for 'input[${index}].arguments': expected an object.`;
        called.add(item.call_id);
        due.push(item.call_id);
        break;
      }
      case 'additional_tools':
        if (item.role !== 'developer' || !Array.isArray(item.tools)) return `input[${index}] is incomplete`;
        break;
      case 'agent_message':
        if (!Array.isArray(item.content)) return `input[${index}] is incomplete`;
        break;
      case 'custom_tool_call_output':
      case 'tool_search_output':
      case 'function_call_output': {
        const { call_id = '' } = item;
        if (!called.has(call_id)) return `No tool call found for function call output with call_id ${call_id}.`;
        due = due.filter((id) => id !== call_id);
        break;
      }
      case 'reasoning': {
        const next = items[index + 1];
        const followed = /_call$/.test(next?.type ?? '') || next?.role === 'assistant';
        if (!followed) return `Item '${item.id}' of type 'reasoning' was provided without its required following item.`;
        if (body.store === false && item.encrypted_content === undefined) return `Item with id '${item.id}' not found.`;
        if (item.encrypted_content !== undefined && item.encrypted_content !== sealed)
          return 'The encrypted content could not be verified.';
        break;
      }
      case 'compaction':
        if (!item.encrypted_content?.startsWith(compacted)) return 'The encrypted content could not be verified.';
        break;
      case 'compaction_trigger':
        if (index < items.length - 1) return "'compaction_trigger' must be the last item.";
        due = [];
        break;
      default:
        return `Invalid value: '${type}'.`;
    }
  }
  return due.length > 0 ? `No tool output found for function call ${due[0]}.` : undefined;
};

const itemsOf = ({ thinking, text, calls = [] }: Scripted, body: ResponsesBody): readonly Item[] => {
  if (itemList(body).at(-1)?.type === 'compaction_trigger')
    return [{ id: 'cmp_vendor', type: 'compaction', encrypted_content: compacted + (text ?? '') }];
  const seals = body.include?.includes('reasoning.encrypted_content') === true;
  const summary = thinking !== undefined && body.reasoning?.summary ? [{ type: 'summary_text', text: thinking }] : [];
  return [
    ...(thinking === undefined
      ? []
      : [{ id: 'rs_vendor', type: 'reasoning', summary, ...(seals && { encrypted_content: sealed }) }]),
    ...(text === undefined
      ? []
      : [
          {
            id: 'msg_vendor',
            type: 'message',
            status: 'completed',
            role: 'assistant',
            content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
          },
        ]),
    ...calls.map(callItem),
  ];
};

const callItem = (
  { id, name, input, form, namespace }: NonNullable<Scripted['calls']>[number],
  index: number,
): Item => {
  const head = { status: 'completed', call_id: id, ...(namespace !== undefined && { namespace }) };
  switch (form) {
    case 'custom':
      return { ...head, id: `ctc_vendor${index}`, type: 'custom_tool_call', name, input: String(input.input) };
    case 'tool_search':
      return { ...head, id: `tsc_vendor${index}`, type: 'tool_search_call', execution: 'client', arguments: input };
    default:
      return { ...head, id: `fc_vendor${index}`, type: 'function_call', name, arguments: JSON.stringify(input) };
  }
};

const usage = {
  input_tokens: counts.prompt,
  input_tokens_details: { cached_tokens: counts.cached },
  output_tokens: counts.output,
  output_tokens_details: { reasoning_tokens: counts.reasoning },
  total_tokens: counts.prompt + counts.output,
};

const response = ({ model, tools = [] }: ResponsesBody, status: string, output: readonly Item[]) => ({
  id: 'resp_vendor',
  object: 'response',
  created_at: 1_700_000_000,
  status,
  error: null,
  incomplete_details: null,
  instructions: null,
  metadata: {},
  model: `${model}-0001`,
  output,
  parallel_tool_calls: true,
  temperature: 1,
  tool_choice: 'auto',
  tools,
  top_p: 1,
  store: false,
  usage: status === 'completed' ? usage : null,
});

const streamOf = (items: readonly Item[], body: ResponsesBody): string[] => {
  const out: string[] = [];
  const emit = (type: string, members: object): void => {
    out.push(sse({ type, sequence_number: out.length, ...members }, type));
  };
  emit('response.created', { response: response(body, 'in_progress', []) });
  emit('response.in_progress', { response: response(body, 'in_progress', []) });
  items.forEach((item, output_index) => {
    const at = { item_id: item.id, output_index };
    emit('response.output_item.added', { output_index, item: opened(item) });
    if (item.type === 'message') streamText(textOf(item.content), at, emit);
    if (item.type === 'function_call') streamArguments(String(item.arguments), at, emit);
    item.summary?.forEach(({ text = '' }, summary_index) => {
      streamSummary(text, { ...at, summary_index }, emit);
    });
    emit('response.output_item.done', { output_index, item });
  });
  emit('response.completed', { response: response(body, 'completed', items) });
  return out;
};

type Emit = (type: string, members: object) => void;

/** An item before its content. Its encrypted content isn't the final one yet. */
const opened = (item: Item): Item => {
  switch (item.type) {
    case 'message':
      return { ...item, content: [], status: 'in_progress' };
    case 'function_call':
      return { ...item, arguments: '', status: 'in_progress' };
    case 'custom_tool_call':
      return { ...item, input: '', status: 'in_progress' };
    case 'tool_search_call':
      return { ...item, status: 'in_progress' };
    case 'compaction':
      return { ...item, encrypted_content: '' };
    default:
      return { ...item, summary: [], ...(item.encrypted_content && { encrypted_content: 'gAAAAABearly' }) };
  }
};

const streamText = (text: string, place: object, emit: Emit): void => {
  const at = { ...place, content_index: 0 };
  const part = { type: 'output_text', annotations: [], logprobs: [] };
  emit('response.content_part.added', { ...at, part: { ...part, text: '' } });
  for (const delta of pieces(text))
    emit('response.output_text.delta', { ...at, delta, logprobs: [], obfuscation: 'x7' });
  emit('response.output_text.done', { ...at, text, logprobs: [] });
  emit('response.content_part.done', { ...at, part: { ...part, text } });
};

const streamArguments = (text: string, at: object, emit: Emit): void => {
  for (const delta of pieces(text)) emit('response.function_call_arguments.delta', { ...at, delta, obfuscation: 'x7' });
  emit('response.function_call_arguments.done', { ...at, arguments: text });
};

const streamSummary = (text: string, at: object, emit: Emit): void => {
  emit('response.reasoning_summary_part.added', { ...at, part: { type: 'summary_text', text: '' } });
  for (const delta of pieces(text)) emit('response.reasoning_summary_text.delta', { ...at, delta });
  emit('response.reasoning_summary_text.done', { ...at, text });
  emit('response.reasoning_summary_part.done', { ...at, part: { type: 'summary_text', text } });
};
