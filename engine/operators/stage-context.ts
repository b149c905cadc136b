import type { Asked, StageContext, StageMemory, StageReplyContext, StageTarget } from '../config/custom/around.ts';
import type { Routed } from '../exchange.ts';
import { copyOf, frozen } from '../model/checked/copy.ts';
import type { ReplyContext } from '../model/context.ts';
import { isJsonObject } from '../model/json/json.ts';
import type { Losses } from '../model/loss.ts';
import type { ModelRequest } from '../model/request.ts';
import { isSecretParameter } from '../observe/log/mask-text.ts';
import { fetchForStage } from './stage-fetch.ts';
import { limitOf, type StageGateway, StageLife, type StageOf } from './stage-parts.ts';
import { askStage, decideStage } from './stage-questions.ts';

/** The context of a stage in the current attempt at a request: one object for all its halves. */
export const stageContext = (routed: Routed, stage: StageOf, gateway: StageGateway): StageContext => {
  const known = contexts.get(routed.context) ?? new Map<number, Kept>();
  if (known.size === 0) contexts.set(routed.context, known);
  const before = known.get(stage.position);
  if (before) return before.context;
  const life = new StageLife(routed);
  const context = new AttemptContext(routed, stage, gateway, life);
  known.set(stage.position, { context, life });
  return context;
};

/** Ends what a stage that is left out has under way: its signal aborts, and its questions fail. */
export const endStage = (routed: Routed, { position }: StageOf): void =>
  contexts.get(routed.context)?.get(position)?.life.end();

interface Kept {
  readonly context: StageContext;
  readonly life: StageLife;
}

/** By the context of the attempt, and the stage's position. */
const contexts = new WeakMap<ReplyContext, Map<number, Kept>>();

/** The same, for the machines of custom stages. */
export const machineContext = (routed: Routed, stage: StageOf, gateway: StageGateway): StageReplyContext => ({
  ...routed.context,
  stage: stageContext(routed, stage, gateway),
});

class AttemptContext implements StageContext {
  readonly id: string;
  readonly client: StageContext['client'];
  readonly target: StageTarget;
  readonly limitMs: number;
  readonly asks: readonly string[];
  readonly losses: Losses;
  readonly log: StageContext['log'];
  readonly spent: StageContext['spent'];
  readonly ask: StageContext['ask'];
  readonly decide: StageContext['decide'];
  readonly fetch: StageContext['fetch'];
  readonly #routed: Routed;
  readonly #context: ReplyContext;
  readonly #stage: StageOf;
  readonly #gateway: StageGateway;
  readonly #life: StageLife;
  #original: ModelRequest | undefined;
  #signal: AbortSignal | undefined;

  constructor(routed: Routed, stage: StageOf, gateway: StageGateway, life: StageLife) {
    const { incoming, client, preset, calls, listener, plan, progress, context } = routed;
    this.#routed = routed;
    this.#context = context;
    this.#stage = stage;
    this.#gateway = gateway;
    this.#life = life;
    this.id = routed.id;
    this.client = {
      wire: client.wire,
      path: incoming.path ?? '',
      preset,
      key: incoming.namedClient,
      session: calls?.session(),
      header: (name) => (isSecretParameter(name) ? undefined : incoming.header(name.toLowerCase())),
    };
    this.target = { ...plan.destination, attempt: progress.failed.length + 1 };
    this.limitMs = limitOf(stage, gateway);
    this.asks = stage.about.asks ?? [];
    this.losses = context.losses.at(stage.name);
    this.log = (text, fields) => {
      listener.stageLogged?.(stage.name, String(text), isJsonObject(fields) ? fields : {});
    };
    this.spent = () => calls?.spent() ?? { usage: {} };
    const asker = { routed, stage, gateway, life };
    this.ask = (to, request, options): Asked => askStage(asker, to, request, options);
    this.decide = (to, question) => decideStage(asker, to, question);
    this.fetch = (url, options) => fetchForStage(asker, url, options);
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
      if (this.#life.isOver) controller.abort();
      else this.#life.whenOver(() => controller.abort());
    }
    return this.#signal;
  }
}
