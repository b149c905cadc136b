import { ApiError, isAbort, wordError } from '../../api/api-error.ts';
import { failure, send } from '../../api/call.ts';
import type { ClientGuide } from '../../api/guides.ts';
import { type JsonObject, parseObject } from '../../api/json.ts';
import { type Protocol, protocolPaths } from '../../api/protocols.ts';
import { counted } from '../../format/figures.ts';
import { answerReader } from '../../stream/answer-reader.ts';
import { objectsAt } from '../../stream/wire-value.ts';

/** One call of the connection check, with its outcome. */
export interface CheckStep {
  /** `GET /v1/models`. */
  readonly call: string;
  readonly state: 'waiting' | 'done' | 'failed';
  readonly status?: number;
  readonly ms?: number;
  /** The outcome as a sentence. */
  readonly says: string;
}

/** Makes the calls that the client would make: `HEAD /`, the model list, one tiny request. */
export const checkClient = async (
  { protocol, path = protocolPaths[protocol], headers }: ClientGuide,
  /** What stands before each path: empty, or a preset's. */
  below: string,
  model: string,
  signal: AbortSignal,
  show: (steps: readonly CheckStep[]) => void,
): Promise<void> => {
  const calls: readonly Call[] = [
    { method: 'HEAD', path: '/', read: async () => 'The gateway is reachable.' },
    // Presets have no list of their own.
    ...(below === '' ? [{ method: 'GET', path: '/v1/models', headers, read: readModels } as const] : []),
    {
      method: 'POST',
      path: `${below}${path}`,
      headers,
      body: tinyBodies[protocol](model),
      read: (answer) => readAnswer(protocol, answer),
    },
  ];
  const steps: CheckStep[] = calls.map(({ method, path: at }) => ({
    call: `${method} ${at}`,
    state: 'waiting',
    says: '',
  }));
  show([...steps]);
  for (const [at, one] of calls.entries()) {
    const name = `${one.method} ${one.path}`;
    try {
      steps[at] = { call: name, ...(await make(one, signal)) };
    } catch (error) {
      if (isAbort(error)) return;
      const status = error instanceof ApiError ? error.status : 0;
      steps[at] = { call: name, state: 'failed', ...(status > 0 && { status }), says: wordError(error) };
    }
    show([...steps]);
  }
};

interface Call {
  readonly method: 'HEAD' | 'GET' | 'POST';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: JsonObject;
  /** Summarizes the response. Throws if it isn't a valid one. */
  readonly read: (answer: Response) => Promise<string>;
}

const make = async ({ method, path, headers = {}, body, read }: Call, signal: AbortSignal) => {
  const sentAtMs = performance.now();
  const answer = await send(path, { method, headers, signal, ...(body && { body }) });
  if (!answer.ok) throw await failure(answer);
  const says = await read(answer);
  return { state: 'done', status: answer.status, ms: performance.now() - sentAtMs, says } as const;
};

const readModels = async (answer: Response): Promise<string> => {
  const models = objectsAt(parseObject(await answer.text()) ?? {}, 'data');
  if (models.length === 0) throw new ApiError(answer.status, 'No models are listed. Add a provider first.');
  return `${counted(models.length, 'model')} available.`;
};

const readAnswer = async (protocol: Protocol, answer: Response): Promise<string> => {
  const reader = answerReader(protocol);
  reader.whole(await answer.text());
  const { parts, model } = reader.answer();
  const said = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(' ');
  const [provider, served = model] = (answer.headers.get('x-junctor-route') ?? '').split(/[,;]/);
  const by = `${provider}, ${served}`;
  return said === '' ? `${by} sent an empty response.` : `${by} replied: ${said.slice(0, mostChars)}`;
};

/** Longer replies are cut, in characters. */
const mostChars = 120;

const text = 'Say hello in one word.';

const tinyBodies: Readonly<Record<Protocol, (model: string) => JsonObject>> = {
  messages: (model) => ({ model, max_tokens: 16, messages: [{ role: 'user', content: text }] }),
  chat: (model) => ({ model, max_completion_tokens: 16, messages: [{ role: 'user', content: text }] }),
  responses: (model) => ({ model, max_output_tokens: 16, input: text, store: false }),
};
