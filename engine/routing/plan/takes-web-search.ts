import { FaultError } from '../../model/fault.ts';
import { Losses } from '../../model/loss.ts';
import type { UpstreamProtocol } from '../../model/protocol.ts';
import { probeRequest, webSearchProbe } from '../../model/request.ts';
import { ToolNames } from '../../model/wire/tool-names.ts';

/** Whether a model is asked by this protocol with the web search of its vendor, if a client has one: the encoder itself tells. */
export const takesWebSearch = ({ encodeRequest }: UpstreamProtocol, model: string): boolean => {
  const losses = new Losses('probe');
  try {
    encodeRequest(
      {
        ...probeRequest(model),
        turns: [{ role: 'user', parts: [{ type: 'text', text: '?' }] }],
        tools: [webSearchProbe],
      },
      { names: new ToolNames(), losses, replyIsRelayed: false },
    );
  } catch (error) {
    if (error instanceof FaultError) return false;
    throw error;
  }
  return !losses.list.some(({ path, outcome }) => path === webSearchProbe.at && outcome === 'dropped');
};
