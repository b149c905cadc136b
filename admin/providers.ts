import { performance } from 'node:perf_hooks';
import { catchError, defer, from, map, mergeMap, type Observable, of, timeout } from 'rxjs';
import Type, { type Static } from 'typebox';
import type { Config } from '../engine/config/config.ts';
import { wordFinding } from '../engine/config/findings.ts';
import { ProviderFile } from '../engine/config/schema.ts';
import type { Validation } from '../engine/config/validate.ts';
import type { Incoming } from '../engine/http/incoming.ts';
import { textMask } from '../engine/log/mask-text.ts';
import { FaultError, faultOf } from '../engine/model/fault.ts';
import { isJsonObject, type JsonObject } from '../engine/model/json.ts';
import type { ClientProtocol } from '../engine/model/protocol.ts';
import { reader } from '../engine/model/schema.ts';
import { tryProvider } from '../engine/try-provider.ts';
import { listUpstreamModels } from '../engine/upstream-models.ts';
import type { Yard } from '../engine/yard/yard.ts';
import { jsonReply } from './json-reply.ts';
import type { DocumentedRow, OperationDoc } from './operation-doc.ts';
import { ServiceFault } from './operation-docs.ts';
import { readJsonBody } from './read-json-body.ts';
import { wordFault } from './word-fault.ts';

/** What asking providers needs of the service. */
export interface ProviderParts {
  /** The client protocol that test requests are written in. */
  readonly client: ClientProtocol;
  /** The configuration in use with this provider in it, checked; not saved. */
  readonly configWith: (provider: JsonObject) => Validation;
  /** Compiles a configuration without putting it to use. */
  readonly build: (config: Config) => Promise<Yard>;
  /** How long a provider may take, in milliseconds. */
  readonly limitMs: number;
}

const provider = { provider: ProviderFile };
const TestRequest = Type.Object({ ...provider, model: Type.String({ minLength: 1 }) });
const ListRequest = Type.Object(provider);

const TestOutcome = Type.Object({
  ok: Type.Boolean(),
  status: Type.Optional(Type.Integer({ description: "The upstream's." })),
  ms: Type.Integer(),
  message: Type.String({ description: 'What happened.' }),
  reply: Type.Optional(Type.String({ description: 'The first words of the answer.' })),
});
type TestOutcome = Static<typeof TestOutcome>;

const ListOutcome = Type.Object({ ok: Type.Boolean(), models: Type.Array(Type.String()), message: Type.String() });

const testReader = reader(TestRequest);
const listReader = reader(ListRequest);

const mostReply = 200;

/**
 * Asks a provider as it is written, saved or not; references to the environment are filled in. `POST /api/providers/test` sends one tiny
 * request through its graph, `POST /api/providers/models` asks for the vendor's own list. What goes wrong is told in words, with
 * status 200: the question was answered.
 */
export const providerRows = (parts: ProviderParts): readonly DocumentedRow[] => [
  {
    method: 'POST',
    path: '/api/providers/test',
    endpoint: {
      open: false,
      wordFault,
      handle: (incoming) => defer(() => test(incoming, parts)).pipe(map((body) => jsonReply(body))),
    },
    doc: told('Tries a provider', 'What happened.', TestRequest, TestOutcome),
  },
  {
    method: 'POST',
    path: '/api/providers/models',
    endpoint: {
      open: false,
      wordFault,
      handle: (incoming) => defer(() => list(incoming, parts)).pipe(map((body) => jsonReply(body))),
    },
    doc: told("A provider's own list of models", 'The list, or why there is none.', ListRequest, ListOutcome),
  },
];

const test = ({ body, startedAtMs }: Incoming, parts: ProviderParts): Observable<TestOutcome> => {
  const written = readJsonBody(body);
  const { model } = testReader.read(written);
  const startedMs = performance.now();
  return ask(written, parts, (yard, name) =>
    tryProvider({ client: parts.client, provider: name, model, atMs: startedAtMs }, yard),
  ).pipe(
    map((outcome): TestOutcome => {
      const ms = Math.round(performance.now() - startedMs);
      if ('problem' in outcome) {
        const { problem, status } = outcome;
        return { ok: false, ms, message: problem, ...(status !== undefined && { status }) };
      }
      const { status, text } = outcome.answer;
      const reply = text.trim().slice(0, mostReply);
      const message =
        reply === '' ? 'The provider answered, but with no text in so few tokens.' : 'The provider answered.';
      return { ok: true, status, ms, message, ...(reply !== '' && { reply }) };
    }),
  );
};

const list = ({ body }: Incoming, parts: ProviderParts): Observable<Static<typeof ListOutcome>> => {
  const written = readJsonBody(body);
  const { models = [] } = listReader.read(written).provider;
  const look = (yard: Yard, name: string) => {
    const row = yard.config.providers.find((one) => one.name === name);
    const line = row && yard.lineTo({ client: parts.client, provider: row, model: models[0] ?? 'any' });
    return line ? listUpstreamModels(line, yard.upstreams) : of([]);
  };
  return ask(written, parts, look).pipe(
    map((outcome) =>
      'problem' in outcome
        ? { ok: false, models: [], message: outcome.problem }
        : { ok: true, models: [...outcome.answer], message: `The provider lists ${outcome.answer.length} models.` },
    ),
  );
};

type Outcome<T> = { readonly answer: T } | { readonly problem: string; readonly status?: number | undefined };

/** Puts a question to the provider that a body names. What keeps it from being answered is worded, and never holds the key. */
const ask = <T>(
  body: JsonObject,
  { configWith, build, limitMs }: ProviderParts,
  question: (yard: Yard, provider: string) => Observable<T>,
): Observable<Outcome<T>> => {
  const result = configWith(isJsonObject(body.provider) ? body.provider : {});
  if ('faults' in result) return of({ problem: `${result.faults.map(wordFinding).join('; ')}.` });
  const { config } = result;
  const [asked] = config.providers;
  if (!asked) return of({ problem: "The provider can't be used." });
  const maskText = textMask(() => asked.apiKeys);
  return from(build(config)).pipe(
    mergeMap((yard) => question(yard, asked.name)),
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
  );
};

function told(summary: string, says: string, request: Type.TSchema, answer: Type.TSchema): OperationDoc {
  return {
    summary,
    group: 'management',
    request,
    answers: { 200: { says, content: { 'application/json': answer } } },
    fault: ServiceFault,
  };
}
