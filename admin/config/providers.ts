import { performance } from 'node:perf_hooks';
import { catchError, from, map, mergeMap, type Observable, of, timeout } from 'rxjs';
import Type from 'typebox';
import type { Config } from '../../engine/config/config.ts';
import { formatFinding } from '../../engine/config/diagnostics.ts';
import { showReferencesIn } from '../../engine/config/env.ts';
import { ProviderFile, TransformerEntryFile } from '../../engine/config/schema.ts';
import type { ProviderDraft, Validation } from '../../engine/config/validate.ts';
import { findLocalServers, type LocalServerKind } from '../../engine/endpoints/local-servers.ts';
import { tryProvider } from '../../engine/endpoints/try-provider.ts';
import { listUpstreamModels } from '../../engine/endpoints/upstream-models.ts';
import type { HttpRequest } from '../../engine/http/endpoint.ts';
import { FaultError, faultOf } from '../../engine/model/fault.ts';
import { isJsonObject, type JsonObject } from '../../engine/model/json/json.ts';
import type { ClientProtocol } from '../../engine/model/protocol.ts';
import { reader } from '../../engine/model/schema.ts';
import { textMask } from '../../engine/observe/log/mask-text.ts';
import { type Gateway, secretsOf } from '../../engine/routing/gateway.ts';
import { jsonOperation, readJsonBody } from '../endpoint.ts';
import { LocalServers, ModelsOutcome, TestOutcome } from '../schema.ts';

/** Dependencies of the provider endpoints. */
interface ProviderParts {
  /** Client protocol of test requests. */
  readonly client: ClientProtocol;
  /** Validates the current configuration with `provider` added or replaced; saves nothing. */
  readonly configWith: (draft: ProviderDraft) => Validation;
  /** Compiles a configuration without activating it. */
  readonly build: (config: Config) => Promise<Gateway>;
  /** Timeout for a provider, in milliseconds. */
  readonly limitMs: number;
  /** The local model servers to look for. */
  readonly localServerKinds?: readonly LocalServerKind[] | undefined;
}

const provider = {
  provider: ProviderFile,
  transformers: Type.Optional(
    Type.Array(TransformerEntryFile, {
      description:
        'The entries of `transformers` to try it with; those for other providers are ignored. Absent: the saved ones.',
    }),
  ),
};
const TestRequest = Type.Object({ ...provider, model: Type.String({ minLength: 1 }) });
const ListRequest = Type.Object(provider);

const testReader = reader(TestRequest, { compiled: false });
const listReader = reader(ListRequest, { compiled: false });

const maxReplyLength = 200;

/**
 * Endpoints that call a provider as written, saved or not, with the entries of `transformers` that apply to it as written; environment
 * references are resolved. `POST /api/providers/test`
 * sends a minimal request through its graph, `POST /api/providers/models` lists the vendor's models. Upstream failures are
 * reported with status 200 and a message.
 */
export const providerOperations = (parts: ProviderParts) => ({
  test: jsonOperation({
    summary: 'Tries a provider',
    says: 'What happened.',
    reply: TestOutcome,
    request: TestRequest,
    answer: (request) => test(request, parts),
  }),
  local: jsonOperation({
    summary: 'Model servers on this machine',
    says: 'Those that listen at their usual ports, with their models.',
    reply: LocalServers,
    answer: async () => ({ servers: await findLocalServers(parts.localServerKinds) }),
  }),
  models: jsonOperation({
    summary: "A provider's own list of models",
    says: 'The list, or why there is none.',
    reply: ModelsOutcome,
    request: ListRequest,
    answer: (request) => list(request, parts),
  }),
});

const test = ({ body, startedAtMs }: HttpRequest, parts: ProviderParts): Observable<TestOutcome> => {
  const source = readJsonBody(body);
  const { model } = testReader.read(source);
  const startedMs = performance.now();
  return ask(source, parts, (gateway, name) =>
    tryProvider({ client: parts.client, provider: name, model, atMs: startedAtMs }, gateway),
  ).pipe(
    map((outcome): TestOutcome => {
      const ms = Math.round(performance.now() - startedMs);
      if ('problem' in outcome) {
        const { problem, status } = outcome;
        return { ok: false, ms, message: problem, ...(status !== undefined && { status }) };
      }
      const { status, text } = outcome.answer;
      const reply = text.trim().slice(0, maxReplyLength);
      const message =
        reply === '' ? 'The provider answered, but with no text in so few tokens.' : 'The provider answered.';
      return { ok: true, status, ms, message, ...(reply !== '' && { reply }) };
    }),
  );
};

const list = ({ body }: HttpRequest, parts: ProviderParts): Observable<ModelsOutcome> => {
  const source = readJsonBody(body);
  listReader.read(source);
  const listModels = (gateway: Gateway, name: string) => {
    const known = gateway.config.providers.find((one) => one.name === name);
    const plan = known && gateway.planFor({ client: parts.client, provider: known, model: known.models[0] ?? 'any' });
    return plan ? listUpstreamModels(plan, gateway) : of([]);
  };
  return ask(source, parts, listModels).pipe(
    map((outcome) =>
      'problem' in outcome
        ? { ok: false, models: [], message: outcome.problem }
        : {
            ok: true,
            models: outcome.answer.map(({ id }) => id),
            message: `The provider lists ${outcome.answer.length} models.`,
          },
    ),
  );
};

type Outcome<T> = { readonly answer: T } | { readonly problem: string; readonly status?: number | undefined };

/** Calls the provider that a body describes. Failures become a message that never contains the key. */
const ask = <T>(
  body: JsonObject,
  { configWith, build, limitMs }: ProviderParts,
  question: (gateway: Gateway, provider: string) => Observable<T>,
): Observable<Outcome<T>> => {
  const result = configWith({
    provider: isJsonObject(body.provider) ? body.provider : {},
    transformers: Array.isArray(body.transformers) ? body.transformers : undefined,
  });
  if ('faults' in result) return of({ problem: `${result.faults.map(formatFinding).join('; ')}.` });
  const { config } = result;
  const [asked] = config.providers;
  if (!asked) return of({ problem: "The provider can't be used." });
  const secrets = secretsOf(config);
  const maskText = textMask(() => secrets);
  return from(build(config)).pipe(
    mergeMap((gateway) => question(gateway, asked.name)),
    map((answer) => ({ answer })),
    timeout({
      first: limitMs,
      with: () => of({ problem: `The provider gave no whole answer within ${limitMs / 1000} s.` }),
    }),
    catchError((error: unknown) => {
      if (!(error instanceof FaultError)) throw error;
      const { message, status } = faultOf(error);
      return of({ problem: maskText(message), status });
    }),
    // The value of a variable, in a base URL too, isn't shown: neither in a fault, nor where the provider repeats it.
    map((outcome) => showReferencesIn(config.referred, outcome)),
  );
};
