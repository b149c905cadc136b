import type { Ready, Routed } from '../exchange.ts';
import { withinStack } from '../model/fault.ts';
import { writeJson } from '../model/json/exact-numbers.ts';
import { replaceMember } from '../model/json/replace-member.ts';
import { callUrl } from '../upstream/url.ts';

/** Encodes the upstream call: URL, headers, and the converted body or the client's own body with the model replaced. */
export const encodeRequest =
  () =>
  (routed: Routed): Ready => {
    const { plan, resolution, clientHeader, request, apiKey } = routed;
    const headers = {
      'content-type': 'application/json',
      accept: request.stream ? 'text/event-stream' : 'application/json',
      'accept-encoding': 'identity',
      'user-agent': 'switchyard',
      ...plan.graph.callUpstream.work({ apiKey, clientHeader, request }),
    };
    const url = callUrl(plan.format, plan.target, resolution.model, request);
    const body = withinStack('invalid-request', tooComplex, () => bodyOf(routed));
    return { ...routed, call: { url, headers, body } };
  };

const tooComplex = 'The request is nested too deeply, or has too many parts, for its conversion.';

const bodyOf = ({ passThrough, text, resolution, plan, request, context, client }: Routed): string =>
  passThrough.request
    ? replaceMember(text, 'model', JSON.stringify(resolution.model))
    : writeJson(
        plan.graph.encodeRequest.work(request, {
          names: context.names,
          losses: context.losses.at(plan.format.name),
          relaysReply: passThrough.reply,
          client: client.wire,
        }),
      );
