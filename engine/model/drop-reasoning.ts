import type { Losses } from './loss.ts';
import type { Reasoning } from './request.ts';

/** Records that the model isn't told how much to think: an effort stands in a place of its own in some formats. */
export const dropReasoning = ({ effort, mode, budget, show }: Reasoning, losses: Losses, note?: string): void => {
  const more = mode !== undefined || budget !== undefined || show !== undefined;
  if (more) losses.drop('reasoning', note);
  if (effort !== undefined) losses.drop(more ? 'reasoning.effort' : 'reasoning', note);
};

/** Whether the model is not to think at all. */
export const isOff = ({ mode, effort }: Reasoning): boolean =>
  mode === 'off' || (mode === undefined && effort === 'none');

/** Records what is said of reasoning that is switched off: it can't mean anything. */
export const dropMoot = (reasoning: Reasoning, losses: Losses): void => {
  if (!isOff(reasoning)) return;
  const { effort, show } = reasoning;
  if (effort !== undefined && effort !== 'none') losses.drop('reasoning.effort', 'reasoning is off');
  if (show !== undefined) losses.drop('reasoning.summary', 'reasoning is off');
};
