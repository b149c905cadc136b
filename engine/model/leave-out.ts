import { dropExtra } from './drop-extra.ts';
import type { Losses } from './loss.ts';
import type { Tool } from './request.ts';

/** Records a tool that doesn't go out, and what its group says if it has one. */
export const leaveOut = (tool: Tool, why: string, losses: Losses): void => {
  losses.drop(tool.at ?? 'tools', why);
  dropExtra(tool.extra?.outer, losses);
};
