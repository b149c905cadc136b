import type { Asked, StageContext, StageMemory, StageReplyContext, StageTarget } from '../config/custom/around.ts';
import type { Routed } from '../exchange.ts';
import { copyOf, frozen } from '../model/checked/copy.ts';
import type { ReplyContext } from '../model/context.ts';
import { isJsonObject } from '../model/json/json.ts';
import type { Losses } from '../model/loss.ts';
import type { ModelRequest } from '../model/request.ts';
import { isSecretParameter } from '../observe/log/mask-text.ts';
import type { StageGateway, StageOf } from './stage-parts.ts';
import { askStage } from './stage-questions.ts';

/** The context of a stage in the current attempt at a request: one object for all its halves. */
export const stageContext = (routed: Routed, stage: StageOf, gateway: StageGateway): StageContext => {
  const known = contexts.get(routed.context) ?? new Map<number, StageContext>();
  if (known.size === 0) contexts.set(routed.context, known);
  const before = known.get(stage.position);
  if (before) return before;
  const made = new AttemptContext(routed, stage, gateway);
  known.set(stage.position, made);
  return made;
};

/** By the context of the attempt, and the stage's position. */
const contexts = new WeakMap<ReplyContext, Map<number, StageContext>>();

/** The same, for the machines of custom stages. */
export const machineContext = (routed: Routed, stage: StageOf, gateway: StageGateway): StageReplyContext => ({
  ...routed.context,
  stage: stageContext(routed, stage, gateway),
});

class AttemptContext implements StageContext {
  readonly id: string;
  readonly client: StageContext['client'];
  readonly target: StageTarget;
  readonly losses: Losses;
  readonly log: StageContext['log'];
  readonly spent: StageContext['spent'];
  readonly ask: StageContext['ask'];
  readonly #routed: Routed;
  readonly #context: ReplyContext;
  readonly #stage: StageOf;
  readonly #gateway: StageGateway;
  #original: ModelRequest | undefined;
  #signal: AbortSignal | undefined;

  constructor(routed: Routed, stage: StageOf, gateway: StageGateway) {
    const { incoming, client, preset, calls, observer, resolution, plan, progress, context } = routed;
    this.#routed = routed;
    this.#context = context;
    this.#stage = stage;
    this.#gateway = gateway;
    this.id = routed.id;
    this.client = {
      wire: client.wire,
      path: incoming.path ?? '',
      preset,
      key: incoming.namedClient,
      session: calls?.session(),
      header: (name) => (isSecretParameter(name) ? undefined : incoming.header(name.toLowerCase())),
    };
    const { provider, model } = resolution;
    this.target = {
      provider: provider.name,
      model,
      input: gateway.modelFacts({ provider, model }).input,
      window: plan.window,
      attempt: progress.failed.length + 1,
    };
    this.losses = context.losses.at(stage.name);
    this.log = (text, fields) => {
      observer.stageLogged(stage.name, String(text), isJsonObject(fields) ? fields : {});
    };
    this.spent = () => calls?.spent() ?? { usage: {} };
    this.ask = (to, request, options): Asked => askStage({ routed, stage, gateway }, to, request, options);
  }

  get memory(): StageMemory {
    return this.#gateway.stageMemories.of(this.#stage.name);
  }

  get original(): ModelRequest {
    this.#original ??= frozen({
      ...copyOf(this.#context.request),
      model: this.#routed.progress.requestedModel ?? this.#context.request.model,
    });
    return this.#original;
  }

  get signal(): AbortSignal {
    if (!this.#signal) {
      const controller = new AbortController();
      this.#signal = controller.signal;
      if (this.#routed.isOver) controller.abort();
      else this.#routed.whenOver(() => controller.abort());
    }
    return this.#signal;
  }
}
