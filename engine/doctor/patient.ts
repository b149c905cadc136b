import { defer, fromEvent, map, type Observable, of } from 'rxjs';
import { defaultFormat, formats, stages } from '../../transformers/index.ts';
import type { Config } from '../config/config.ts';
import type { Environment } from '../config/env.ts';
import { validateConfig } from '../config/validate.ts';
import { FaultError } from '../model/fault.ts';
import { isJsonObject, type Json, type JsonObject } from '../model/json/json.ts';
import type { ModelPrice } from '../model/models/model-facts.ts';
import type { ModelRequest } from '../model/request.ts';
import { exactMask } from '../observe/log/mask-text.ts';
import { createCatalogue } from '../routing/catalogue/catalogue.ts';
import { type Gateway, hiddenIn } from '../routing/gateway.ts';
import { validateEntries } from '../routing/plan/build-stages.ts';
import { createSignatureCache } from '../routing/reasoning/signature-cache.ts';
import { TaughtMemory } from '../routing/taught.ts';
import { steadyClock } from '../runtime/steady-clock.ts';
import { dryGateway } from '../trial/dry-gateway.ts';
import { createUpstreams } from '../upstream/create-upstreams.ts';
import { createCommandKeys } from '../upstream/keys/command-keys.ts';
import { runCommand } from '../upstream/keys/run-command.ts';
import type { Patient } from './change.ts';
import type { Examined } from './examine.ts';
import type { ProbeOutcome } from './outcome.ts';
import { prepareProbe } from './probe.ts';

interface PatientOptions {
  readonly patient: Patient;
  readonly config: Config;
  readonly env: Environment;
  readonly home: string;
  /** Commands that may be run for keys. */
  readonly keyCommands: readonly string[];
  readonly interrupted: AbortSignal;
}

/** A provider's model that can be asked, by itself: without routes, pools and modules, and without what refusals have taught. */
interface OpenPatient {
  readonly open: (source: JsonObject) => Examined | undefined;
  readonly price: ModelPrice | undefined;
  readonly close: () => Promise<void>;
}

/** Time limit of a command for a key, in milliseconds. */
const keyCommandMs = 10_000;

/** Opens the connections, which the caller closes. */
export const openPatient = async (options: PatientOptions): Promise<OpenPatient> => {
  const { patient, config, env, home, interrupted } = options;
  const keys: string[] = [];
  const services = {
    upstreams: createUpstreams({
      ...config.timeouts,
      ...config.limits,
      connectionsPerProvider: 4,
      queuePerProvider: 16,
      environment: env,
    }),
    commandKeys: createCommandKeys({
      allowed: options.keyCommands,
      run: (command, signal) => runCommand({ command, cwd: home, env, limitMs: keyCommandMs, signal }),
      nowMs: steadyClock.nowMs,
      obtained: (all) => keys.splice(0, keys.length, ...all),
      warn: () => undefined,
    }),
    catalogue: createCatalogue(home),
    signatures: createSignatureCache(),
    taught: new TaughtMemory(),
  };
  await services.catalogue.reload();
  await services.catalogue.loadPrices();
  const gatewayOf = (checked: Config): Gateway => dryGateway(checked, { custom: new Map() }, services);
  const aborted = fromEvent(interrupted, 'abort');
  const interruption: Observable<never> = defer(() => (interrupted.aborted ? of(undefined) : aborted)).pipe(
    map((): never => {
      throw interrupted.reason;
    }),
  );
  return {
    price: gatewayOf(config).modelFacts(destinationIn(config, patient)).price,
    open(source) {
      const result = validateConfig(aloneIn(source, patient.provider), env);
      if (!('config' in result)) return undefined;
      const gateway = gatewayOf(result.config);
      const { faults } = validateEntries(result.config, gateway.registry);
      if (faults.length > 0) return undefined;
      const mask = (text: string) => exactMask([...hiddenIn(result.config), ...keys]).text(text);
      const destination = destinationIn(result.config, patient);
      return {
        format: gateway.formatOf(destination).format,
        learn(lessons, words) {
          for (const lesson of lessons) services.taught.learn(destination, lesson, words);
        },
        async prepare(request, asked) {
          if (hasPicture(request) && gateway.modelFacts(destination).input?.includes('image') === false) return blind;
          const nowMs = steadyClock.nowMs;
          return prepareProbe(request, { gateway, patient: asked, nowMs, interrupted: interruption, mask });
        },
      };
    },
    async close() {
      services.commandKeys.close();
      await services.upstreams.close();
    },
  };
};

const hasPicture = ({ turns }: ModelRequest): boolean =>
  turns.some(({ parts }) => parts.some(({ type }) => type === 'image'));

/** Routes and stages send pictures elsewhere then. */
const blind: ProbeOutcome = {
  type: 'unsent',
  fault: { kind: 'unsupported', message: 'the model is known to take no pictures' },
};

const destinationIn = ({ providers }: Config, { provider, model }: Patient) => {
  const found = providers.find(({ name }) => name === provider);
  if (!found) throw new FaultError({ kind: 'no-route', message: `There is no provider "${provider}".` });
  return { provider: found, model };
};

/** The configuration with this provider alone, and what is set for calls to all of them. */
const aloneIn = ({ Providers, transformers, TIMEOUTS, LIMITS }: JsonObject, provider: string): JsonObject => ({
  Providers: listIn(Providers).filter((row) => isJsonObject(row) && String(row.name).trim() === provider),
  transformers: listIn(transformers).filter(isBuiltIn),
  ...(TIMEOUTS !== undefined && { TIMEOUTS }),
  ...(LIMITS !== undefined && { LIMITS }),
});

const listIn = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);

/** A stage of the user's own may call other models. */
const isBuiltIn = (entry: Json): boolean => {
  const name = isJsonObject(entry) ? entry.name : entry;
  const isModule = isJsonObject(entry) && entry.path !== undefined;
  return !isModule && typeof name === 'string' && (formats.has(name) || stages.has(name) || name === defaultFormat);
};
