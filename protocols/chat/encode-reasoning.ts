import { dropMoot, dropReasoning, isOff } from '../../engine/model/drop-reasoning.ts';
import type { JsonObject } from '../../engine/model/json.ts';
import type { Losses } from '../../engine/model/loss.ts';
import type { Effort, Extra, ModelRequest, Reasoning } from '../../engine/model/request.ts';
import { type ChatDialect, plainDialect, type ReasoningControl } from './dialect.ts';
import { loopForbidsThinking } from './open-loop.ts';

/** How much the model is to think → the dialect's members. What it has no word for becomes a loss. */
export const encodeReasoning = (request: ModelRequest, dialect: ChatDialect, losses: Losses): JsonObject => {
  const { reasoning, model, extra } = request;
  if (loopForbidsThinking(request, dialect)) {
    losses.approximate('reasoning', 'off: the last tool calls come without the reasoning that led to them');
    return {};
  }
  const form = dialect.reasoningReply.find(({ models }) => models.test(model));
  const hides = reasoning?.show === 'hidden';
  return {
    ...(form && !says(extra, dialect) && (hides ? form.hidden : form.shown)),
    ...(reasoning && encodeControl(reasoning, model, dialect.reasoning, hides && !form, losses)),
  };
};

/** Whether a chat client says by itself how it wants the reasoning, in any of the vendor's members: they exclude each other. */
const says = (extra: Extra | undefined, { reasoningReply }: ChatDialect): boolean =>
  extra?.wire === 'chat' &&
  reasoningReply.some(({ shown, hidden }) => Object.keys({ ...shown, ...hidden }).some((name) => name in extra.fields));

/** `cantHide`: the client doesn't want to see the reasoning, and the dialect has no form for that. */
const encodeControl = (
  reasoning: Reasoning,
  model: string,
  given: ReasoningControl | undefined,
  cantHide: boolean,
  losses: Losses,
): JsonObject => {
  if (!given?.models.test(model)) {
    if (isOff(reasoning)) dropMoot(reasoning, losses);
    else dropReasoning(reasoning, losses);
    return {};
  }
  const efforts = given.special?.find(({ models }) => models.test(model))?.efforts ?? given.efforts;
  const control = { ...given, efforts };
  if (reasoning.mode === 'between-tools') losses.approximate('reasoning.mode', 'reasoning as a whole');
  dropMoot(reasoning, losses);
  if (reasoning.effort !== undefined && reasoning.budget !== undefined) {
    losses.drop('reasoning.budget_tokens', 'the effort counts');
  }
  if (reasoning.show === 'concise' || reasoning.show === 'detailed') {
    losses.approximate('reasoning.summary', 'reasoning as the vendor shows it');
  }
  if (control.form === 'reasoning') return reasoningObject(reasoning, control, losses);
  if (cantHide) losses.drop('reasoning.summary');
  // Nothing is known of this vendor, so that what the user configured says more than the reference's own words.
  if (reasoning.providerWords && given === plainDialect.reasoning) return reasoning.providerWords;
  const word = effortWord(reasoning, control, losses);
  return control.form === 'thinking'
    ? thinkingSwitch(reasoning, word)
    : word === undefined
      ? {}
      : { reasoning_effort: word };
};

/** Effort from a budget in tokens: none at 0, low up to 1024, medium up to 8192, high above. */
export const budgetEffort = (budget: number): Effort => {
  if (budget <= 0) return 'none';
  if (budget <= 1024) return 'low';
  return budget <= 8192 ? 'medium' : 'high';
};

const effortOf = ({ mode, effort, budget }: Reasoning): Effort | undefined => {
  if (mode === 'off') return 'none';
  return effort ?? (budget === undefined || budget < 0 ? undefined : budgetEffort(budget));
};

const effortWord = (reasoning: Reasoning, control: ReasoningControl, losses: Losses): string | undefined => {
  const effort = effortOf(reasoning);
  if (effort === undefined) return undefined;
  const word = control.efforts[effort];
  const switchesOff = control.form === 'thinking' && effort === 'none';
  const turnsBudget = reasoning.effort === undefined && (reasoning.budget ?? 0) > 0;
  if (word === undefined) {
    if (!switchesOff) losses.drop('reasoning.effort');
  } else if (turnsBudget) losses.approximate('reasoning.budget_tokens', `effort ${word}`);
  else if (word !== effort) losses.approximate('reasoning.effort', word);
  return word;
};

const thinkingSwitch = (reasoning: Reasoning, word: string | undefined): JsonObject => {
  if (effortOf(reasoning) === 'none') return { thinking: { type: 'disabled' } };
  const effort = word === undefined ? {} : { reasoning_effort: word };
  return reasoning.mode === 'adaptive' ? effort : { thinking: { type: 'enabled' }, ...effort };
};

const reasoningObject = (reasoning: Reasoning, control: ReasoningControl, losses: Losses): JsonObject => {
  const hidden = reasoning.show === 'hidden' ? { exclude: true } : {};
  const takesBudget = reasoning.mode !== 'off' && reasoning.effort === undefined && (reasoning.budget ?? 0) > 0;
  if (takesBudget) return { reasoning: { max_tokens: reasoning.budget, ...hidden } };
  const effort = effortWord(reasoning, control, losses);
  if (effort !== undefined) return { reasoning: { effort, ...hidden } };
  const enabled = reasoning.mode === 'on' || reasoning.mode === 'between-tools' ? { enabled: true } : {};
  const members = { ...enabled, ...hidden };
  return Object.keys(members).length > 0 ? { reasoning: members } : {};
};
