import type { Losses } from '../../engine/model/loss.ts';
import type { ModelRequest, WireFormat } from '../../engine/model/request.ts';
import { ToolNames } from '../../engine/model/tool-names.ts';
import { type CalledTool, calledTool } from './called-tool.ts';
import { takesCacheMarks } from './model-traits.ts';

/** What the parts of one request share while it is encoded. */
export interface Encoding {
  readonly losses: Losses;
  /** What is being written, for the note of a loss. */
  readonly place: 'message' | 'tool output';
  /** The model takes marks for its prompt cache. */
  readonly cacheMarks: boolean;
  /** The client speaks this protocol itself: what it left out means here what it meant there. */
  readonly ownClient: boolean;
  /** The tool as this wire knows it. */
  readonly tool: (name: string) => CalledTool;
  /** A call's id in the length that the vendor takes. */
  readonly callId: (id: string) => string;
  /** Ids of the custom tools' calls: their outputs are items of their own kind. */
  readonly customCalls: Set<string>;
}

/** An encoding of this request. `wireName` gives a tool's name in the vendor's characters. */
export const newEncoding = (
  { model, tools }: ModelRequest,
  losses: Losses,
  client: WireFormat | undefined,
  wireName: (name: string) => string,
): Encoding => {
  const ids = new ToolNames();
  return {
    losses,
    place: 'message',
    cacheMarks: takesCacheMarks(model),
    ownClient: client === 'responses',
    tool(name) {
      const tool = calledTool(tools, name);
      return tool.namespace === undefined ? { ...tool, name: wireName(name) } : tool;
    },
    callId: (id) => ids.wire(id, /^.{1,64}$/s, 64),
    customCalls: new Set(),
  };
};
