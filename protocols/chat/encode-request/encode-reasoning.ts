import type { JsonObject } from '../../../engine/model/json/json.ts';
import type { Losses } from '../../../engine/model/loss.ts';
import { recordMootLoss, recordReasoningLoss } from '../../../engine/model/record-losses.ts';
import type { Effort, Extra, ModelRequest, Reasoning, Turn } from '../../../engine/model/request.ts';
import { isOff } from '../../../engine/model/request.ts';
import { type ChatDialect, plainDialect, type ReasoningControl, type SwitchControl } from '../dialect.ts';
import { wireFormat } from '../reasoning-details.ts';

/** Reasoning controls → the dialect's members. Controls without a counterpart become losses. */
export const encodeReasoning = (request: ModelRequest, dialect: ChatDialect, losses: Losses): JsonObject => {
  const { reasoning, extra } = request;
  if (mustBeOff(request, dialect)) {
    if (reasoning && isOff(reasoning)) recordMootLoss(reasoning, losses);
    else if (reasoning) recordReasoningLoss(reasoning, losses);
    return dialect.reasoning?.form === 'switch' ? dialect.reasoning.off : {};
  }
  if (toolsForbidReasoning(request, dialect)) {
    // Without reasoning controls, the loss is that of the tools.
    losses.approximate(reasoning ? 'reasoning' : 'tools', 'without reasoning: the model rejects tools with it here');
    return { reasoning_effort: 'none' };
  }
  if (loopForbidsThinking(request, dialect)) {
    losses.approximate('reasoning', 'off: the last tool calls lack the reasoning that led to them');
    return {};
  }
  if (forcedForbidsThinking(request, dialect)) {
    losses.approximate('reasoning', 'off: a tool call is required');
    return {};
  }
  const asks = reasoning !== undefined && !isOff(reasoning);
  const form = dialect.reasoningReply?.when === 'always' || asks ? dialect.reasoningReply : undefined;
  const hides = reasoning?.show === 'hidden';
  return {
    ...(form && !choosesForm(extra, dialect) && (hides ? (form.hidden ?? form.shown) : form.shown)),
    ...(reasoning && encodeControl(reasoning, dialect.reasoning, hides && !form?.hidden, losses)),
  };
};

/** Whether reasoning must be switched off because the answer isn't streamed. */
export const mustBeOff = ({ stream }: ModelRequest, { reasoning }: ChatDialect): boolean =>
  !stream && reasoning?.form === 'switch' && reasoning.streamsOnly === true;

const toolsForbidReasoning = (
  { tools, reasoning = {} }: ModelRequest,
  { toolsWithoutReasoning: when }: ChatDialect,
): boolean => {
  if (!when || when === 'forced' || !tools.some(({ type }) => type === 'function' || type === 'custom')) return false;
  const effort = effortOf(reasoning);
  return effort === undefined ? when === 'always' : effort !== 'none';
};

/** Whether a chat client already chooses the form of reasoning: the vendor's members are mutually exclusive. */
const choosesForm = (extra: Extra | undefined, { reasoningMembers }: ChatDialect): boolean =>
  extra?.wire === 'chat' && reasoningMembers.some((name) => name in extra.fields);

/** Encodes the controls for the dialect. `cannotHide`: the client hides reasoning, which the dialect can't express. */
const encodeControl = (
  reasoning: Reasoning,
  given: ReasoningControl | undefined,
  cannotHide: boolean,
  losses: Losses,
): JsonObject => {
  if (!given) {
    if (isOff(reasoning)) recordMootLoss(reasoning, losses);
    else recordReasoningLoss(reasoning, losses);
    return {};
  }
  if (reasoning.mode === 'between-tools') losses.approximate('reasoning.mode', 'reasoning as a whole');
  recordMootLoss(reasoning, losses);
  if (reasoning.effort !== undefined && reasoning.budget !== undefined) {
    losses.drop('reasoning.budget_tokens', 'the effort takes precedence');
  }
  if (reasoning.show === 'concise' || reasoning.show === 'detailed') {
    losses.approximate('reasoning.summary', 'reasoning as the vendor shows it');
  }
  if (given.form === 'reasoning') return reasoningObject(reasoning, given, losses);
  if (cannotHide) losses.drop('reasoning.summary');
  // Nothing is known of this vendor, so configured members win over the reference's.
  if (reasoning.providerMembers && given === plainDialect.reasoning) return reasoning.providerMembers;
  const word =
    given.form === 'switch' && takesBudget(reasoning, given) ? undefined : effortWord(reasoning, given, losses);
  const effort = word === undefined ? {} : { reasoning_effort: word };
  return given.form === 'switch' ? { ...switchMembers(reasoning, given), ...effort } : effort;
};

/** Effort of a budget in tokens: none at 0, low up to 1024, medium up to 8192, high above. */
const budgetEffort = (budget: number): Effort => {
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
  const switchesOff = control.form === 'switch' && effort === 'none' && canBeOff(control);
  const turnsBudget = reasoning.effort === undefined && (reasoning.budget ?? 0) > 0;
  if (switchesOff) return undefined;
  if (word === undefined) {
    losses.drop(turnsBudget ? 'reasoning.budget_tokens' : 'reasoning.effort');
  } else if (turnsBudget) losses.approximate('reasoning.budget_tokens', `effort ${word}`);
  else if (word !== effort) losses.approximate('reasoning.effort', word);
  return word;
};

/** Whether reasoning can be off, as the efforts say. */
const canBeOff = ({ efforts: { none = 'none' } }: SwitchControl): boolean => none === 'none';

const switchMembers = (reasoning: Reasoning, control: SwitchControl): JsonObject => {
  if (effortOf(reasoning) === 'none' && canBeOff(control)) return control.off;
  if (takesBudget(reasoning, control) && control.budget) return { ...control.on, [control.budget]: reasoning.budget };
  return reasoning.mode === 'adaptive' ? {} : control.on;
};

const takesBudget = ({ effort, budget = 0 }: Reasoning, control: SwitchControl): boolean =>
  control.budget !== undefined && effort === undefined && budget > 0;

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

/**
 * Whether the model would refuse to think: it requires the reasoning behind the calls of an open tool loop, and some
 * is missing because another model made the calls or the client lost it.
 */
export const loopForbidsThinking = ({ reasoning, turns }: ModelRequest, dialect: ChatDialect): boolean => {
  if (!reasoning || isOff(reasoning) || !dialect.reasoningHistory?.signed) return false;
  const spoken = turns.findLastIndex(
    ({ role, parts }) => role === 'user' && parts.some(({ type }) => type !== 'tool-result'),
  );
  return turns.slice(spoken + 1).some((turn) => calls(turn) && !isSigned(turn));
};

/** Whether reasoning that is asked for is left out, since the model would refuse the request with it. */
export const thinkingIsLifted = (request: ModelRequest, dialect: ChatDialect): boolean =>
  loopForbidsThinking(request, dialect) || forcedForbidsThinking(request, dialect);

/** Whether the model would refuse to think and to be forced to call a tool. */
const forcedForbidsThinking = (
  { reasoning, toolChoice }: ModelRequest,
  { toolsWithoutReasoning }: ChatDialect,
): boolean => {
  if (toolsWithoutReasoning !== 'forced' || !reasoning || isOff(reasoning)) return false;
  const { type } = toolChoice ?? { type: 'auto' };
  return type === 'required' || type === 'tool' || (toolChoice?.type === 'allowed' && toolChoice.required);
};

const calls = ({ parts }: Turn): boolean => parts.some(({ type }) => type === 'tool-call');

const isSigned = ({ parts }: Turn): boolean =>
  parts.some(
    (part) =>
      (part.type === 'thinking' || part.type === 'redacted-thinking') &&
      part.signature?.format === wireFormat &&
      part.signature.data !== '',
  );
