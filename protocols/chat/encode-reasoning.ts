import type { JsonObject } from '../../engine/model/json.ts';
import type { Losses } from '../../engine/model/loss.ts';
import type { Effort, ModelRequest, Reasoning } from '../../engine/model/request.ts';
import type { ChatDialect, ReasoningControl } from './dialect.ts';

/** How much the model is to think → the dialect's members. What it has no word for becomes a loss. */
export const encodeReasoning = (
  { reasoning, model }: ModelRequest,
  dialect: ChatDialect,
  losses: Losses,
): JsonObject => {
  if (!reasoning) return {};
  const control = dialect.reasoning;
  if (!control?.models.test(model)) {
    losses.drop('reasoning');
    return {};
  }
  if (reasoning.mode === 'between-tools') losses.approximate('reasoning.mode', 'reasoning as a whole');
  if (control.form === 'reasoning') return reasoningObject(reasoning, control, losses);
  if (reasoning.show === 'hidden') losses.drop('reasoning.show');
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
