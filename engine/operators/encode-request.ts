import type { Ready, Routed } from '../exchange.ts';
import { replaceMember } from '../json-splice.ts';
import { callUrl } from '../yard/call-url.ts';

/** The request in the upstream's wire format, or the body as it came but for the model; where it goes, under which head. */
export const encodeRequest =
  () =>
  (routed: Routed): Ready => {
    const { line, resolution, clientHeader, request, apiKey } = routed;
    const headers = {
      'content-type': 'application/json',
      accept: request.stream ? 'text/event-stream' : 'application/json',
      'accept-encoding': 'identity',
      'user-agent': 'switchyard',
      ...line.graph.callUpstream.work({ apiKey, clientHeader, request }),
    };
    const url = callUrl(line.format, line.target, resolution.model, request);
    return { ...routed, call: { url, headers, body: bodyOf(routed) } };
  };

const bodyOf = ({ relays, text, resolution, line, request, context, client }: Routed): string =>
  relays.request
    ? replaceMember(text, 'model', JSON.stringify(resolution.model))
    : JSON.stringify(
        line.graph.encodeRequest.work(request, {
          names: context.names,
          losses: context.losses.at(line.format.name),
          relaysReply: relays.reply,
          client: client.wire,
        }),
      );
