import type { CustomTool, FunctionTool } from '../request.ts';

/** A tool's description for formats without namespaces: its namespace's words explain it, so they go before its own. */
export const describedTool = ({ namespace, description }: FunctionTool | CustomTool): string | undefined => {
  const before = namespace?.description;
  return before === undefined || before === '' ? description : [before, description].filter(Boolean).join('\n\n');
};
