import { Buffer } from 'node:buffer';
import type { Config } from '../config/config.ts';
import { fill, type Ready, type Reconciled } from '../exchange.ts';
import { withinStack } from '../model/fault.ts';
import { writeJson } from '../model/json/exact-numbers.ts';
import { isJsonObject, parseJson } from '../model/json/json.ts';
import { applyPatches } from '../model/json/merge-patch.ts';
import type { Range } from '../model/json/outline.ts';
import { replaceMember } from '../model/json/replace-member.ts';
import type { PassThrough } from '../observer.ts';
import { callUrl } from '../upstream/url.ts';
import { clientCredentials } from './client-credentials.ts';
import { mayPassThrough } from './pass-through.ts';
import type { SequenceStep } from './rx/sequence.ts';

/** Encodes the upstream call: URL, headers, and the converted body or the client's own body with the model replaced. */
export const encodeRequest = (config: Pick<Config, 'apiKey' | 'clients'>): SequenceStep<Reconciled, Ready> => {
  const withClientCredentials = clientCredentials(config);
  return (routed) => {
    const { plan, resolution, clientHeader, request, apiKey, observer, trace } = routed;
    const passThrough = mayPassThrough(routed);
    const headers = {
      'content-type': 'application/json',
      accept: request.stream ? 'text/event-stream' : 'application/json',
      'accept-encoding': 'identity',
      'user-agent': 'switchyard',
      ...plan.graph.callUpstream.work({ apiKey, clientHeader, request }),
      ...trace?.callHeaders(),
    };
    const sent = resolution.provider.credentials === 'client' ? withClientCredentials(headers, routed) : headers;
    const url = callUrl(plan.format, plan.target, resolution.model, request);
    const body = withinStack('invalid-request', tooComplex, () => bodyOf(routed, passThrough));
    const ready = fill(routed, { passThrough, call: { url, headers: sent, body } });
    observer.encoded(ready);
    return ready;
  };
};

const tooComplex = 'The request is nested too deeply, or has too many parts, for its conversion.';

const bodyOf = (routed: Reconciled, passThrough: PassThrough): string | Uint8Array => {
  const { outline, text, resolution, plan, request, context, client } = routed;
  if (!passThrough.request) {
    const body = plan.graph.encodeRequest.work(request, {
      names: context.names,
      losses: context.losses.at(plan.format.name),
      relaysReply: passThrough.reply,
      client: client.wire,
    });
    return writeJson(plan.patches.length > 0 ? applyPatches({ ...body }, plan.patches) : body);
  }
  if (plan.patches.length > 0) {
    const body = parseJson(outline ? new TextDecoder().decode(outline.body) : text);
    return writeJson(applyPatches(isJsonObject(body) ? body : {}, [{ model: resolution.model }, ...plan.patches]));
  }
  const model = JSON.stringify(resolution.model);
  return outline ? replaceBytes(outline.body, outline.model, model) : replaceMember(text, 'model', model);
};

/** The bytes with the text in place of this range; the same bytes if it is there already. */
const replaceBytes = (bytes: Uint8Array, [from, to]: Range, text: string): Uint8Array => {
  const value = Buffer.from(text);
  return value.equals(bytes.subarray(from, to))
    ? bytes
    : Buffer.concat([bytes.subarray(0, from), value, bytes.subarray(to)]);
};
