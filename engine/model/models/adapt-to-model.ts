import type { Losses } from '../loss.ts';
import type { Effort, ModelRequest, Reasoning, ToolChoice } from '../request.ts';
import { isOff } from '../request.ts';
import type { Lack } from './model-facts.ts';

/** Adapts a request to what its model is known to lack, and records what changes. Returns the same request if nothing does. */
export const adaptToModel = (request: ModelRequest, lacks: readonly Lack[], losses: Losses): ModelRequest =>
  lacks.reduce((asked, lack) => adapt[lack](asked, losses), request);

/** Lowers the requested output limit to the most that the model's answers may have, in tokens: vendors reject a higher one. */
export const lowerOutput = (request: ModelRequest, maxOutput: number, losses: Losses, isRoom = false): ModelRequest => {
  losses.approximate(
    'max_tokens',
    isRoom ? `${maxOutput}, what its window leaves` : `${maxOutput}, the model's maximum`,
  );
  return { ...request, maxTokens: maxOutput };
};

/**
 * Tokens that a known window leaves for the answer beside a prompt of an estimated length. Never less than an eighth of the window: the
 * estimate may be too high, and the vendor's refusal has the exact count.
 */
export const roomIn = (window: number, estimate: number): number =>
  Math.max(window >> 3, window - Math.ceil(estimate * 1.05));

/** Source of the names that losses have: Chat Completions. */
const sampling = [
  ['temperature', 'temperature'],
  ['topP', 'top_p'],
  ['topK', 'top_k'],
  ['presencePenalty', 'presence_penalty'],
  ['frequencyPenalty', 'frequency_penalty'],
  ['logitBias', 'logit_bias'],
] as const;

const adapt: Readonly<Record<Lack, (request: ModelRequest, losses: Losses) => ModelRequest>> = {
  sampling(request, losses) {
    const given = sampling.filter(([member]) => request[member] !== undefined && !isAccepted(member, request));
    if (given.length === 0) return request;
    for (const [member, field] of given) {
      if (!isDefault(member, request)) losses.drop(field, 'the model accepts no sampling fields');
    }
    return { ...request, ...Object.fromEntries(given.map(([member]) => [member, undefined])) };
  },
  forcedToolChoice(request, losses) {
    const toolChoice = unforced(request.toolChoice);
    if (toolChoice === request.toolChoice) return request;
    losses.approximate('tool_choice', "the model chooses: it can't be made to call a tool");
    return { ...request, toolChoice };
  },
  reasoningOff(request, losses) {
    const { reasoning } = request;
    if (!reasoning || !isOff(reasoning)) return request;
    losses.approximate('reasoning', "effort low: the model's reasoning can't be off");
    // A client that turns reasoning off doesn't expect to see it.
    return { ...request, reasoning: { ...withoutMode(reasoning), effort: 'low', show: 'hidden' } };
  },
  reasoningBudget(request, losses) {
    const { reasoning } = request;
    if (reasoning?.budget === undefined) return request;
    const { budget, ...others } = reasoning;
    const effort = reasoning.effort ?? effortOf(budget);
    losses.approximate('reasoning.budget_tokens', effort === undefined ? 'the model decides' : `effort ${effort}`);
    return { ...request, reasoning: { ...others, ...(effort && { effort }) } };
  },
  minimalEffort(request, losses) {
    const { reasoning } = request;
    if (reasoning?.effort !== 'minimal') return request;
    losses.approximate('reasoning.effort', 'low');
    return { ...request, reasoning: { ...reasoning, effort: 'low' } };
  },
};

/** Models that reject sampling fields accept a `top_p` of at least 0.99. Source: Anthropic API reference, "Create a Message". */
const isAccepted = (member: (typeof sampling)[number][0], { topP = 0 }: ModelRequest): boolean =>
  member === 'topP' && topP >= 0.99 && topP < 1;

const isDefault = (member: (typeof sampling)[number][0], request: ModelRequest): boolean =>
  (member === 'temperature' || member === 'topP') && request[member] === 1;

const unforced = (choice: ToolChoice | undefined): ToolChoice | undefined => {
  if (choice?.type === 'required' || choice?.type === 'tool') return { type: 'auto' };
  return choice?.type === 'allowed' && choice.required ? { ...choice, required: false } : choice;
};

const withoutMode = ({ mode: _, ...others }: Reasoning): Reasoning => others;

/** The effort of a budget in tokens; a negative one leaves it to the model. */
const effortOf = (budget: number): Effort | undefined => {
  if (budget < 0) return undefined;
  if (budget <= 1_024) return 'low';
  return budget <= 8_192 ? 'medium' : 'high';
};
