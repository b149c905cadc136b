import { isDeepStrictEqual } from 'node:util';
import type { Config, RouterModule, TransformerEntry } from '../config/config.ts';
import { type ModuleWatch, watchModules } from '../config/custom/watch-modules.ts';
import { type Finding, formatFinding, formatFindings } from '../config/diagnostics.ts';
import { ConfigStore } from '../config/files/store.ts';
import { type Inspect, withInspected } from '../config/judge.ts';
import { presetFindings } from '../config/presets/preset-findings.ts';
import { createPresets, type Presets } from '../config/presets/presets.ts';
import { configFile } from '../config/read.ts';
import { shownFindings } from '../config/secrets.ts';
import { validateDraft } from '../config/validate.ts';
import { fail } from '../model/fault.ts';
import type { JsonObject } from '../model/json/json.ts';
import { buildGateway, type CurrentGateway, type Gateway, hiddenIn } from '../routing/gateway.ts';
import { inspectBuilt, inspectDraft } from '../routing/inspect.ts';
import { sameEntry } from '../routing/plan/build-stages.ts';
import { ConfigError, type LoadedConfig } from './load-config.ts';
import type { ProcessServices } from './services.ts';
import type { Peers } from './workers/peers.ts';

/** The gateway in use. A changed configuration replaces it without dropping a request. */
export interface ReloadableGateway {
  readonly current: CurrentGateway;
  readonly store: ConfigStore;
  readonly presets: Presets<Gateway>;
  /** Builds a configuration's gateway without using it for requests. */
  readonly build: (config: Config) => Promise<Gateway>;
  /** The same from a configuration as written, a draft. Rejects with an `invalid-request` fault if it can't be used. */
  readonly aside: (source: JsonObject) => Promise<Gateway>;
  /** Applies changes of the file and of custom transformers from now on. */
  readonly watch: (changes: ChangeListener) => void;
  readonly close: () => Promise<void>;
}

interface ChangeListener {
  /** Gets each configuration that is about to be used; if it rejects, the configuration isn't used. */
  readonly prepare: (config: Config) => Promise<unknown>;
  /** Gets each new gateway. */
  readonly applied: (gateway: Gateway) => void;
}

/** Builds the first gateway. Rejects with a `ConfigError` if an entry of `transformers` can't be used. */
export const openGateway = async (
  { gatewayOptions, logs, secrets, turn, applyToOthers }: ProcessServices,
  { source, config, warnings, file }: LoadedConfig,
  report: (line: string) => void,
  /** Environment variables that drafts may name besides those of the saved configuration. */
  vendorVariables: readonly string[],
): Promise<ReloadableGateway> => {
  const { env, home } = gatewayOptions;
  const current = { gateway: await buildGateway(gatewayOptions, config) };
  // An unusable module doesn't prevent the start, since it may be fixed while the service runs.
  const entries = inspectBuilt(config, current.gateway, () => true);
  if (entries.faults.length > 0) {
    await current.gateway.upstreams.close();
    throw new ConfigError(file ?? configFile(home, env), entries.faults);
  }
  const warn = (findings: readonly Finding[]): void => {
    for (const warning of findings.map(formatFinding)) {
      logs.app.warn(warning);
      report(`warning: ${warning}`);
    }
  };
  const presetWarnings = (base: JsonObject) =>
    presetFindings(home, base, env, (draft, merged) => inspectDraft(draft, merged, gatewayOptions));
  warn([...warnings, ...entries.warnings, ...(await presetWarnings(source))]);

  /** Whether an entry's module is already unusable in the active configuration; then it is no reason to reject a change. */
  const isBroken = (entry: TransformerEntry | RouterModule): boolean => {
    if (!('at' in entry)) {
      return (
        current.gateway.registry.router?.form === 'unusable' &&
        isDeepStrictEqual(current.gateway.config.router.module, entry)
      );
    }
    return current.gateway.config.transformers.some((one) => {
      const loaded = current.gateway.registry.custom.get(one.at);
      return loaded !== undefined && 'problem' in loaded && sameEntry(one, entry);
    });
  };
  let modules: ModuleWatch | undefined;
  let changes: ChangeListener = { prepare: async () => undefined, applied: () => undefined };
  const use = (next: Gateway): void => {
    const before = current.gateway;
    current.gateway = next;
    secrets.reset(hiddenIn(next.config));
    logs.adjust({ enabled: next.config.log, level: next.config.logLevel });
    changes.applied(next);
    if (before.upstreams !== next.upstreams) void before.upstreams.close();
    else {
      next.upstreams.adjust(next.config.timeouts);
      next.upstreams.closeIdleSockets(changedOrigins(before.config, next.config));
    }
    modules?.use(modulesOf(next));
  };
  const store = await ConfigStore.open({
    home,
    env,
    initial: { source, config },
    log: logs.app,
    ...(turn && { exclusive: oneAtATime(turn) }),
    ...(applyToOthers && { applyToOthers: applyToOthers }),
    inspect(draft, written) {
      secrets.add(hiddenIn(draft));
      return inspectDraft(draft, written, gatewayOptions, isBroken);
    },
    async prepare(next, written) {
      // Mask before anything from the configuration can be logged.
      secrets.reset([...hiddenIn(current.gateway.config), ...hiddenIn(next)]);
      await changes.prepare(next);
      const ready = await buildGateway(gatewayOptions, next, current.gateway, true);
      const { faults, warnings: found } = inspectBuilt(next, ready, isBroken);
      return { faults, warnings: [...found, ...(await presetWarnings(written))], apply: () => use(ready) };
    },
  });
  const build = (aside: Config): Promise<Gateway> => {
    secrets.add(hiddenIn(aside));
    return buildGateway(gatewayOptions, aside, current.gateway);
  };
  return {
    current,
    store,
    presets: createPresets({
      home,
      env,
      base: () => store.source,
      build,
      check: async (preset) => inspectBuilt(preset, await build(preset), isBroken),
      inspect: (draft, merged) => inspectDraft(draft, merged, gatewayOptions, isBroken),
      warn: (name, findings) =>
        warn(findings.map(({ path, message }) => ({ path: `preset ${name}: ${path}`, message }))),
    }),
    build,
    async aside(source) {
      const result = validateDraft(source, store.source, env, vendorVariables);
      if (!('config' in result)) {
        const inspect: Inspect = (draft, merged) => inspectDraft(draft, merged, gatewayOptions, isBroken);
        return unusable((await withInspected(result, source, env, inspect)).faults);
      }
      const { config: other } = result;
      const built = await build(other);
      const { faults } = inspectBuilt(other, built, isBroken);
      if (faults.length === 0) return built;
      if (built.upstreams !== current.gateway.upstreams) await built.upstreams.close();
      return unusable(shownFindings(faults, source, env));
    },
    watch(listener) {
      changes = listener;
      store.watch();
      modules = watchModules(
        modulesOf(current.gateway),
        () => store.refresh(),
        (error) => logs.app.warn('transformer modules are not watched', { error }),
      );
    },
    async close() {
      modules?.close();
      await store.close();
      await current.gateway.upstreams.close();
    },
  };
};

/** The custom modules that a gateway has loaded. */
const modulesOf = ({ registry: { custom, router } }: Gateway) => [...custom.values(), ...(router ? [router] : [])];

const unusable = (faults: readonly Finding[]): never =>
  fail('invalid-request', `The configuration can't be used:${formatFindings(faults)}`, {
    param: 'configuration',
  });

/** Runs configuration changes one at a time, across all processes of the service. */
const oneAtATime =
  (turn: Peers['turn']) =>
  async <T>(task: () => Promise<T>): Promise<T> => {
    const end = await turn();
    if (!end) return fail('unavailable', 'Another process is changing the configuration, or the main one is silent.');
    try {
      return await task();
    } finally {
      end();
    }
  };

/** The origins of the providers that the other configuration doesn't have, or has otherwise. */
const changedOrigins = ({ providers }: Config, other: Config): ReadonlySet<string> =>
  new Set(
    providers
      .filter((provider) => !other.providers.some((one) => isDeepStrictEqual(one, provider)))
      .flatMap(({ baseUrl, otherBaseUrls = [] }) => [baseUrl, ...otherBaseUrls].map(({ origin }) => origin)),
  );
