import { map, type OperatorFunction } from 'rxjs';
import type { Ready, Routed } from '../exchange.ts';
import { replaceMember } from '../json-splice.ts';
import { FaultError } from '../model/fault.ts';
import type { ModelRequest } from '../model/request.ts';
import { upstreamUrl } from '../upstream/url.ts';

/** Each stage's request half in list order, then the upstream's wire format; or the body as it came, but for the model. */
export const transformRequest = (): OperatorFunction<Routed, Ready> =>
  map((routed) => {
    const { line, resolution, clientHeader, context } = routed;
    const { format } = line;
    const request = routed.relays.request ? routed.request : throughStages(routed);
    const path = (request.stream ? format.streamPath : undefined) ?? format.path;
    const url = upstreamUrl(resolution.provider.baseUrl, path.replace('{model}', encodeURIComponent(resolution.model)));
    const headers = {
      'content-type': 'application/json',
      accept: request.stream ? 'text/event-stream' : 'application/json',
      'accept-encoding': 'identity',
      'user-agent': 'switchyard',
      ...format.headers({ apiKey: resolution.provider.apiKey, clientHeader, request }),
    };
    const body = routed.relays.request
      ? replaceMember(routed.text, 'model', JSON.stringify(resolution.model))
      : JSON.stringify(
          line.upstream.encodeRequest(request, {
            names: context.names,
            losses: context.losses.at(format.name),
            relaysReply: routed.relays.reply,
          }),
        );
    return { ...routed, request, call: { url, headers, body } };
  });

const throughStages = ({ line, request, context }: Routed): ModelRequest =>
  line.stages.reduce((asked, stage) => {
    try {
      return stage.request?.(asked, context.losses.at(stage.name)) ?? asked;
    } catch (error) {
      if (error instanceof FaultError) throw error;
      const message = `Transformer "${stage.name}" failed on the request.`;
      throw new FaultError({ kind: 'stage-failed', message }, { cause: error });
    }
  }, request);
