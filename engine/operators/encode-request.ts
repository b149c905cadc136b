import { fill, type Ready, type Reconciled } from '../exchange.ts';
import { withinStack } from '../model/fault.ts';
import { writeJson } from '../model/json/exact-numbers.ts';
import { replaceMember } from '../model/json/replace-member.ts';
import type { PassThrough } from '../observer.ts';
import { callUrl } from '../upstream/url.ts';
import { mayPassThrough } from './pass-through.ts';
import type { SequenceStep } from './rx/sequence.ts';

/** Encodes the upstream call: URL, headers, and the converted body or the client's own body with the model replaced. */
export const encodeRequest = (): SequenceStep<Reconciled, Ready> => (routed) => {
  const { plan, resolution, clientHeader, request, apiKey, observer } = routed;
  const passThrough = mayPassThrough(routed);
  const headers = {
    'content-type': 'application/json',
    accept: request.stream ? 'text/event-stream' : 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'switchyard',
    ...plan.graph.callUpstream.work({ apiKey, clientHeader, request }),
  };
  const url = callUrl(plan.format, plan.target, resolution.model, request);
  const body = withinStack('invalid-request', tooComplex, () => bodyOf(routed, passThrough));
  const ready = fill(routed, { passThrough, call: { url, headers, body } });
  observer.encoded(ready);
  return ready;
};

const tooComplex = 'The request is nested too deeply, or has too many parts, for its conversion.';

const bodyOf = ({ text, resolution, plan, request, context, client }: Reconciled, passThrough: PassThrough): string =>
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
