import Type, { type Static } from 'typebox';
import { isJsonObject, type Json, parseJson } from '../model/json/json.ts';
import type { ListedModel } from '../model/models/model-facts.ts';
import { reader } from '../model/schema.ts';
import { askDirectly } from '../runtime/ask-directly.ts';

/** A model of a local server. */
interface LocalModel {
  readonly name: string;
  /** Tokens of its context window as it is served, or else as it was trained; absent: unknown. */
  readonly contextWindow?: number;
}

/** A model server found on this machine. */
export interface LocalServer {
  /** Name for its provider. */
  readonly name: string;
  readonly title: string;
  /** Base URL of its Chat Completions API. */
  readonly baseUrl: string;
  readonly models: readonly LocalModel[];
}

/** A kind of server: where it usually listens, and how it lists its models. */
export interface LocalServerKind {
  readonly name: string;
  readonly title: string;
  readonly origin: string;
  /** `undefined`: another program listens there. */
  readonly models: (ask: Ask) => Promise<readonly LocalModel[] | undefined>;
  /** Time limit of one probe, in milliseconds; default: 1,000. A server here answers at once, or doesn't listen. */
  readonly limitMs?: number;
}

/** The JSON at a path; `undefined` for a failure. A `body` is sent with POST. */
type Ask = (path: string, body?: Json) => Promise<Json | undefined>;

const maxBytes = 4 << 20;
const maxModels = 200;

const Name = Type.String({ minLength: 1, maxLength: 256 });
const Tokens = Type.Optional(Type.Integer({ minimum: 1 }));

/** Lists models one by one, skipping those of another shape. */
const each = <S extends Type.TSchema>(schema: S) => {
  const { matches } = reader(schema, { compiled: false });
  return (list: Json | undefined): Static<S>[] =>
    Array.isArray(list) ? list.slice(0, maxModels).filter((row): row is Json & Static<S> => matches(row)) : [];
};

const member = (value: Json | undefined, name: string): Json | undefined =>
  isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;

const count = (value: Json | undefined): number | undefined =>
  typeof value === 'number' && Number.isInteger(value) && value > 0 ? value : undefined;

const modelOf = (name: string, contextWindow: number | undefined): LocalModel => ({
  name,
  ...(contextWindow !== undefined && { contextWindow }),
});

const ollamaRows = each(Type.Object({ name: Name }));

/** Source: Ollama's API documentation, `/api/tags` and `/api/show`. */
const ollama = async (ask: Ask): Promise<readonly LocalModel[] | undefined> => {
  const listed = await ask('/api/tags');
  if (!Array.isArray(member(listed, 'models'))) return undefined;
  const found = await Promise.all(
    ollamaRows(member(listed, 'models')).map(async ({ name }) => {
      const shown = await ask('/api/show', { model: name });
      const abilities = member(shown, 'capabilities');
      if (Array.isArray(abilities) && !abilities.includes('completion')) return [];
      const info = member(shown, 'model_info');
      const trained = count(member(info, `${member(info, 'general.architecture')}.context_length`));
      return [modelOf(name, servedBy(member(shown, 'parameters')) ?? trained)];
    }),
  );
  return found.flat();
};

/** The `num_ctx` among a model's parameters, one a line. */
const servedBy = (parameters: Json | undefined): number | undefined => {
  const line = typeof parameters === 'string' ? parameters.split('\n').find((one) => one.startsWith('num_ctx')) : '';
  return count(Number(line?.slice('num_ctx'.length).trim() || Number.NaN));
};

const studioRows = each(
  Type.Object({
    key: Name,
    type: Type.String(),
    max_context_length: Tokens,
    loaded_instances: Type.Optional(Type.Array(Type.Object({ config: Type.Object({ context_length: Tokens }) }))),
  }),
);
const olderStudioRows = each(
  Type.Object({ id: Name, type: Type.String(), max_context_length: Tokens, loaded_context_length: Tokens }),
);

/** Source: LM Studio's REST API documentation, `/api/v1/models`, and `/api/v0/models` of older versions. */
const lmStudio = async (ask: Ask): Promise<readonly LocalModel[] | undefined> => {
  const listed = member(await ask('/api/v1/models'), 'models');
  if (Array.isArray(listed)) {
    return studioRows(listed).flatMap(({ key, type, max_context_length: most, loaded_instances: loaded = [] }) =>
      type === 'embedding' ? [] : [modelOf(key, loaded[0]?.config.context_length ?? most)],
    );
  }
  const older = member(await ask('/api/v0/models'), 'data');
  if (!Array.isArray(older)) return undefined;
  return olderStudioRows(older).flatMap(({ id, type, max_context_length: most, loaded_context_length: loaded }) =>
    type === 'embeddings' ? [] : [modelOf(id, loaded ?? most)],
  );
};

const llamaRows = each(Type.Object({ id: Name, meta: Type.Optional(Type.Object({ n_ctx_train: Tokens })) }));

/** Source: llama.cpp's server documentation, `/props` and `/v1/models`. */
const llamaCpp = async (ask: Ask): Promise<readonly LocalModel[] | undefined> => {
  const settings = member(await ask('/props'), 'default_generation_settings');
  if (settings === undefined) return undefined;
  const served = count(member(settings, 'n_ctx'));
  return llamaRows(member(await ask('/v1/models'), 'data')).map(({ id, meta }) =>
    modelOf(id, served ?? meta?.n_ctx_train),
  );
};

const vllmRows = each(Type.Object({ id: Name, owned_by: Type.Literal('vllm'), max_model_len: Tokens }));

/** Source: vLLM's server, `/v1/models`. */
const vllm = async (ask: Ask): Promise<readonly LocalModel[] | undefined> => {
  const rows = vllmRows(member(await ask('/v1/models'), 'data'));
  return rows.length === 0 ? undefined : rows.map(({ id, max_model_len: window }) => modelOf(id, window));
};

/** The usual ports of the usual servers. */
export const localServerKinds: readonly LocalServerKind[] = [
  { name: 'ollama', title: 'Ollama', origin: 'http://127.0.0.1:11434', models: ollama },
  { name: 'lmstudio', title: 'LM Studio', origin: 'http://127.0.0.1:1234', models: lmStudio },
  { name: 'llamacpp', title: 'llama.cpp', origin: 'http://127.0.0.1:8080', models: llamaCpp },
  { name: 'vllm', title: 'vLLM', origin: 'http://127.0.0.1:8000', models: vllm },
];

/** Finds the model servers that run at these places, with their models. Never rejects. */
export const findLocalServers = async (
  places: readonly LocalServerKind[] = localServerKinds,
): Promise<readonly LocalServer[]> => {
  const found = await Promise.all(
    places.map(async (place): Promise<readonly LocalServer[]> => {
      const { name, title, origin } = place;
      const listed = await askModels(place);
      return listed ? [{ name, title, baseUrl: `${origin}/v1`, models: listed }] : [];
    }),
  );
  return found.flat();
};

/** The models that one of these servers has, with their windows; none if it isn't there. Never rejects. */
export const localModels = async (place: LocalServerKind): Promise<readonly ListedModel[]> => {
  const listed = await askModels(place);
  return (listed ?? []).map(({ name, contextWindow }) => ({
    id: name,
    ...(contextWindow !== undefined && { context: contextWindow }),
  }));
};

/** `Ollama at http://127.0.0.1:11434/v1: qwen3 (32,768 tokens), gemma3`. */
export const describeServer = ({ title, baseUrl, models }: LocalServer): string => {
  const names = models.map(({ name, contextWindow }) =>
    contextWindow === undefined ? name : `${name} (${contextWindow.toLocaleString('en-US')} tokens)`,
  );
  return `${title} at ${baseUrl}: ${names.join(', ') || 'no models'}`;
};

const askModels = ({ origin, models, limitMs = 1_000 }: LocalServerKind): Promise<readonly LocalModel[] | undefined> =>
  models((path, body) => askJson(origin + path, body, limitMs));

const askJson = async (url: string, body: Json | undefined, limitMs: number): Promise<Json | undefined> => {
  try {
    const asked = body === undefined ? {} : ({ method: 'POST', body: JSON.stringify(body) } as const);
    const { status, text } = await askDirectly(url, { ...asked, limitMs, maxBytes });
    return status >= 200 && status < 300 ? parseJson(text) : undefined;
  } catch {
    // Nothing listens there, or something that doesn't speak HTTP, or too slowly, or with too long a list.
    return undefined;
  }
};
