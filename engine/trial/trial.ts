import { isAbsolute, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { clientProtocols } from '../../protocols/index.ts';
import type { StageMemory } from '../config/custom/around.ts';
import { loadModule } from '../config/custom/load-module.ts';
import { stageOf } from '../config/custom/load-stages.ts';
import { StageMemories } from '../config/custom/stage-memory.ts';
import type { OpenStage } from '../config/custom/transformer.ts';
import { copyOf } from '../model/checked/copy.ts';
import { messageOf } from '../model/fault.ts';
import type { ClientProtocol } from '../model/protocol.ts';
import type { ModelRequest } from '../model/request.ts';
import type { Gateway } from '../routing/gateway.ts';
import { configFor } from './config-for.ts';
import type { AnswerFunction, GivenAnswer, StageTest } from './declared.ts';
import { dryGateway } from './dry-gateway.ts';
import { TrialFailure } from './failure.ts';
import { servedBy } from './given-fetch.ts';
import { readCapture } from './read-capture.ts';

/** A stage, and what stands in for the gateway around it. */
export interface Trial extends Pick<StageTest, 'spent' | 'signal'> {
  /** The stage's name. */
  readonly name: string;
  readonly gateway: Gateway;
  /** The same without the stage. */
  readonly bare: Gateway;
  /** The client, which always sends the test's request. */
  readonly protocol: ClientProtocol;
  readonly client: NonNullable<StageTest['client']>;
  readonly provider: string;
  readonly model: string;
  /** The model's answers. */
  readonly answer: GivenAnswer | AnswerFunction;
  readonly ask: NonNullable<StageTest['ask']>;
  /** The stage's memory at the beginning of a run. */
  readonly newMemory: () => StageMemory;
  readonly limitMs: number;
}

/** Loads a stage for trials. Rejects with a `TrialFailure` if it can't be used. */
export const openTrial = async (test: StageTest): Promise<Trial> => {
  const { target = {}, limitMs = 5_000, ask = {}, client = {} } = test;
  const captured = test.capture === undefined ? undefined : await readCapture(test.capture);
  const stage = await loadStage(test);
  const { name } = stage;
  const provider = target.provider ?? captured?.provider ?? 'provider';
  const model = target.model ?? captured?.model ?? 'model';
  return {
    name,
    ...gatewaysFor(stage, { target, provider, model, limitMs, asks: Object.keys(ask), fetch: test.fetch }),
    protocol: protocolFor(test, captured?.client),
    client,
    provider,
    model,
    answer: test.answer ?? captured?.answer ?? 'Hello there!',
    ask,
    newMemory: () => memoryOf(name, test.memory),
    limitMs,
    ...(test.spent && { spent: test.spent }),
    ...(test.signal && { signal: test.signal }),
  };
};

const gatewaysFor = (
  stage: OpenStage,
  {
    target: { input, window },
    provider,
    model,
    limitMs,
    asks,
    fetch,
  }: Pick<Trial, 'provider' | 'model' | 'limitMs'> & {
    readonly target: NonNullable<StageTest['target']>;
    readonly asks: readonly string[];
    readonly fetch: StageTest['fetch'];
  },
): Pick<Trial, 'gateway' | 'bare'> => {
  const known = { name: model, ...(input && { input }), ...(window !== undefined && { context: window }) };
  const config = configFor({ provider, model: known, more: { TIMEOUTS: { stageMs: limitMs } } });
  const { name } = stage;
  const entry = { at: 'transformers[0]', name, path: name, options: {}, ask: asks };
  const custom = new Map([[entry.at, { file: name, stage }]]);
  return {
    gateway: dryGateway({ ...config, transformers: [entry] }, { custom }, { upstreams: servedBy(fetch) }),
    bare: dryGateway(config, { custom }),
  };
};

const protocolFor = ({ client, request }: StageTest, captured: ClientProtocol | undefined): ClientProtocol => {
  const wire = client?.wire ?? captured?.wire ?? 'chat';
  const served = clientProtocols.find(({ protocol }) => protocol.wire === wire)?.protocol;
  if (!served) throw new TrialFailure(`client.wire is ${JSON.stringify(wire)}, which no client speaks.`);
  if (request === undefined && captured) return { ...served, decodeRequest: captured.decodeRequest };
  const asked = requestOf(request ?? 'Hello!');
  return { ...served, decodeRequest: () => asked };
};

const requestOf = (request: string | ModelRequest): ModelRequest =>
  typeof request === 'string'
    ? {
        model: 'model',
        system: [],
        turns: [{ role: 'user', parts: [{ type: 'text', text: request }] }],
        tools: [],
        stream: true,
      }
    : copyOf(request);

const loadStage = async ({ stage, options = {} }: StageTest): Promise<OpenStage> => {
  const file = typeof stage === 'string' || stage instanceof URL ? fileOf(stage) : undefined;
  try {
    return await stageOf('stage', file === undefined ? stage : await loadModule(file), options);
  } catch (cause) {
    throw new TrialFailure(`${file ?? 'The stage'} can't be used: ${messageOf(cause).replaceAll(/\s+/g, ' ').trim()}`, {
      cause,
    });
  }
};

const fileOf = (stage: string | URL): string => {
  if (typeof stage !== 'string') return fileURLToPath(stage);
  if (stage.startsWith('file:')) return fileURLToPath(stage);
  return isAbsolute(stage) ? stage : resolve(stage);
};

/** Lifetime of the values that a test begins with, in milliseconds. */
const givenMs = 86_400_000;

const memoryOf = (name: string, given: StageTest['memory'] = {}): StageMemory => {
  if (isMemory(given)) return given;
  const memory = new StageMemories().of(name);
  for (const [key, value] of Object.entries(given)) memory.set(key, value, { ms: givenMs });
  return memory;
};

const isMemory = (given: NonNullable<StageTest['memory']>): given is StageMemory =>
  typeof given.get === 'function' && typeof given.set === 'function';
