import Type from 'typebox';
import { parseJson } from '../../model/json/json.ts';
import { reader } from '../../model/schema.ts';
import type { Cooldown, ModelHealth, ModelHealthPublisher } from './model-health.ts';

/** Facts that processes tell each other; of two with the same id, the later expiry wins. */
export interface HealthFacts {
  /**
   * This machine, if others share the facts. What it says of an upstream that gave no answer may be its own network's fault: others
   * believe it when two machines say so.
   */
  readonly witness?: string;
  readonly say: (fact: SharedFact) => void;
  readonly onFact: (listener: (fact: SharedFact) => void) => void;
}

/** Something that holds for so many milliseconds. */
interface SharedFact {
  readonly id: string;
  readonly value: string;
  readonly forMs: number;
}

/** Tells other processes what was learnt of a provider. */
export interface ProviderHealthPublisher extends Pick<ModelHealthPublisher, 'cooling'> {
  readonly ofModel: (model: string) => ModelHealthPublisher;
}

/** A provider's health, as far as other processes know something of it. */
interface SharedHealth {
  readonly model: (
    name: string,
  ) => Pick<ModelHealth, 'openedElsewhere' | 'suspectedElsewhere' | 'closedElsewhere' | 'coolingElsewhere'>;
  readonly coolingElsewhere: (print: string, cooldown: Cooldown) => void;
}

/**
 * Whether a breaker is open: `['b', provider, model]`; that one machine got no answer: `['w', provider, model, machine]`. A key's cooldown: `['k', provider, fingerprint]`, and maybe a model.
 */
const FactId = Type.Union([
  Type.Tuple([Type.Literal('b'), Type.String(), Type.String()]),
  Type.Tuple([Type.Literal('w'), Type.String(), Type.String(), Type.String()]),
  Type.Tuple([Type.Literal('k'), Type.String(), Type.String()]),
  Type.Tuple([Type.Literal('k'), Type.String(), Type.String(), Type.String()]),
]);
const factId = reader(FactId);
const reasons = reader(Type.Union([Type.Literal('limited'), Type.Literal('refused'), Type.Literal('forbidden')]));

/** How long the news of a successful probe holds, in milliseconds: shorter than a breaker is usually open. */
const closedMs = 10_000;

/**
 * Shares breakers and cooldowns with other processes, by each of `shared`. What they tell is applied to `healthOf` a provider; the
 * result makes what this process tells of one.
 */
export const shareHealth = (
  shared: readonly HealthFacts[],
  healthOf: (provider: string) => SharedHealth,
  nowMs: () => number,
): ((provider: string) => ProviderHealthPublisher) => {
  const hear = ({ id, value, forMs }: SharedFact): void => {
    const parsed = parseJson(id);
    if (!factId.matches(parsed)) return;
    const [kind, provider, subject, model] = parsed;
    const untilMs = nowMs() + forMs;
    const health = healthOf(provider);
    if (kind === 'b') {
      if (value === 'open') health.model(subject).openedElsewhere(untilMs);
      else health.model(subject).closedElsewhere();
    } else if (kind === 'w') {
      if (model !== undefined) health.model(subject).suspectedElsewhere(model, untilMs, nowMs());
    } else if (reasons.matches(value)) {
      const owner = model === undefined ? health : health.model(model);
      owner.coolingElsewhere(subject, { why: value, untilMs });
    }
  };
  for (const facts of shared) facts.onFact(hear);
  const say = (id: readonly string[], value: string, forMs: number): void => {
    for (const facts of shared) facts.say({ id: JSON.stringify(id), value, forMs });
  };
  const sayUnanswered = (provider: string, model: string, forMs: number): void => {
    for (const facts of shared) {
      const { witness } = facts;
      const id = witness === undefined ? ['b', provider, model] : ['w', provider, model, witness];
      facts.say({ id: JSON.stringify(id), value: 'open', forMs });
    }
  };
  return (provider) => ({
    cooling: (print, why, forMs) => say(['k', provider, print], why, forMs),
    ofModel: (model) => ({
      opened: (forMs, isAnswered) =>
        isAnswered ? say(['b', provider, model], 'open', forMs) : sayUnanswered(provider, model, forMs),
      closed: () => say(['b', provider, model], 'closed', closedMs),
      cooling: (print, why, forMs) => say(['k', provider, print, model], why, forMs),
    }),
  });
};
