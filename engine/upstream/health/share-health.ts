import Type from 'typebox';
import { parseJson } from '../../model/json/json.ts';
import { reader } from '../../model/schema.ts';
import type { Cooldown } from './cooldowns.ts';

/** Facts that processes exchange; of two with the same id, the later expiry wins. */
export interface HealthEntries {
  readonly publish: (fact: SharedEntry) => void;
  readonly onEntry: (listener: (fact: SharedEntry) => void) => void;
  /**
   * Claims what one process has at a time, for at most `forMs`. Resolves with its release; `undefined` while another process has it.
   * Returns `undefined` if there is no process to ask.
   */
  readonly claim: (id: string, forMs: number) => Promise<(() => void) | undefined> | undefined;
}

/** A fact that holds for a number of milliseconds. */
interface SharedEntry {
  readonly id: string;
  readonly value: string;
  readonly forMs: number;
}

/** Publishes changes of a provider's health to other processes. */
export interface ProviderHealthPublisher extends Pick<ModelHealthPublisher, 'cooling'> {
  readonly ofModel: (model: string) => ModelHealthPublisher;
}

/** The part of a model's health that other processes can change. */
interface SharedModelHealth {
  readonly openedByOthers: (untilMs: number) => void;
  readonly suspectedByOthers: (node: string, untilMs: number, nowMs: number) => void;
  readonly closedByOthers: () => void;
  readonly coolingByOthers: (print: string, cooldown: Cooldown) => void;
}

/** The part of a provider's health that other processes can change. */
interface SharedHealth {
  readonly model: (name: string) => SharedModelHealth;
  readonly coolingByOthers: (print: string, cooldown: Cooldown) => void;
}

/**
 * Whether a breaker is open: `['b', provider, model]`; that one node got no answer: `['w', provider, model, node]`. A key's cooldown: `['k', provider, fingerprint]`, and maybe a model.
 */
const FactId = Type.Union([
  Type.Tuple([Type.Literal('b'), Type.String(), Type.String()]),
  Type.Tuple([Type.Literal('w'), Type.String(), Type.String(), Type.String()]),
  Type.Tuple([Type.Literal('k'), Type.String(), Type.String()]),
  Type.Tuple([Type.Literal('k'), Type.String(), Type.String(), Type.String()]),
]);
const factId = reader(FactId);
const reasons = reader(Type.Union([Type.Literal('limited'), Type.Literal('refused'), Type.Literal('forbidden')]));

/** Lifetime of the entry for a successful probe, in milliseconds: shorter than a breaker is usually open. */
const closedMs = 10_000;

/**
 * Shares breakers and cooldowns with other processes. Their facts are applied to `healthOf` a provider; the result creates the
 * publisher of a provider. `ownNode`: names this node if others share the facts. An upstream without an answer may be a fault of its
 * network: others act only when two nodes report it.
 */
export const shareHealth = (
  shared: HealthEntries,
  healthOf: (provider: string) => SharedHealth,
  nowMs: () => number,
  ownNode?: string,
): ((provider: string) => ProviderHealthPublisher) => {
  const apply = ({ id, value, forMs }: SharedEntry): void => {
    const parsed = parseJson(id);
    if (!factId.matches(parsed)) return;
    const [kind, provider, subject, model] = parsed;
    const untilMs = nowMs() + forMs;
    const health = healthOf(provider);
    if (kind === 'b') {
      if (value === 'open') health.model(subject).openedByOthers(untilMs);
      else health.model(subject).closedByOthers();
    } else if (kind === 'w') {
      // A process of this node has the same network.
      if (model === ownNode) health.model(subject).openedByOthers(untilMs);
      else if (model !== undefined) health.model(subject).suspectedByOthers(model, untilMs, nowMs());
    } else if (reasons.matches(value)) {
      const owner = model === undefined ? health : health.model(model);
      owner.coolingByOthers(subject, { why: value, untilMs });
    }
  };
  shared.onEntry(apply);
  const publish = (id: readonly string[], value: string, forMs: number): void =>
    shared.publish({ id: JSON.stringify(id), value, forMs });
  return (provider) => ({
    cooling: (print, why, forMs) => publish(['k', provider, print], why, forMs),
    ofModel: (model) => ({
      opened: (forMs, isAnswered) =>
        isAnswered || ownNode === undefined
          ? publish(['b', provider, model], 'open', forMs)
          : publish(['w', provider, model, ownNode], 'open', forMs),
      closed: () => publish(['b', provider, model], 'closed', closedMs),
      claimProbe: (forMs) => shared.claim(`probe ${JSON.stringify([provider, model])}`, forMs),
      cooling: (print, why, forMs) => publish(['k', provider, print, model], why, forMs),
    }),
  });
};

/** Publishes changes of a model's health to other processes of the service. */
export interface ModelHealthPublisher {
  /** The breaker opened for this many milliseconds. */
  readonly opened: (forMs: number, isAnswered: boolean) => void;
  /** The probe succeeded. */
  readonly closed: () => void;
  /**
   * Claims the probe for at most so many milliseconds. Resolves with its release; `undefined` while another process has it.
   * Returns `undefined` if there is no process to ask.
   */
  readonly claimProbe: (forMs: number) => Promise<(() => void) | undefined> | undefined;
  readonly cooling: (print: string, why: Cooldown['why'], forMs: number) => void;
}
