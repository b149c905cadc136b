import { Buffer } from 'node:buffer';
import type { Config } from '../config/config.ts';
import { type Answered, fill, type Ready, type Reconciled } from '../exchange.ts';
import { adaptToModel, lowerOutput } from '../model/adapt-to-model.ts';
import { withinStack } from '../model/fault.ts';
import { isJsonObject, parseJson, writeJson } from '../model/json/json.ts';
import { applyPatches } from '../model/json/merge-patch.ts';
import type { Range } from '../model/json/outline.ts';
import { replaceMember } from '../model/json/replace-member.ts';
import type { PassThrough } from '../observer.ts';
import { callUrl } from '../upstream/url.ts';
import { changeCall } from './change-call.ts';
import { clientCredentials } from './client-credentials.ts';
import type { SequenceStep } from './rx/sequence.ts';

/** Encodes the upstream call: URL, headers, and the converted body or the client's own body with the model replaced. */
export const encodeRequest = (config: Pick<Config, 'apiKey' | 'clients'>): SequenceStep<Reconciled, Ready> => {
  const withClientCredentials = clientCredentials(config);
  return (routed) => {
    const { plan, resolution, clientHeader, request, apiKey, addressAt, observer, trace } = routed;
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
    const url = callUrl(plan.format, plan.targets[addressAt] ?? plan.target, resolution.model, request);
    const body = withinStack('invalid-request', tooComplex, () => bodyOf(routed, passThrough));
    const call = { url, headers: sent, body };
    const changed = plan.graph.callStages.length > 0 ? changeCall(routed, call) : call;
    const ready = fill(routed, { passThrough, call: changed });
    observer.encoded(ready);
    return ready;
  };
};

const tooComplex = 'The request is nested too deeply, or has too many parts, for its conversion.';

const bodyOf = (routed: Reconciled, passThrough: PassThrough): string | Uint8Array => {
  const { outline, text, resolution, plan, request, context, client } = routed;
  if (!passThrough.request) {
    const losses = context.losses.at(plan.format.name);
    const { maxOutput = Number.POSITIVE_INFINITY } = plan.target;
    const limited = (request.maxTokens ?? 0) > maxOutput ? lowerOutput(request, maxOutput, losses) : request;
    const asked = plan.lacks.length > 0 ? adaptToModel(limited, plan.lacks, losses) : limited;
    const body = plan.graph.encodeRequest.work(asked, {
      names: context.names,
      losses,
      replyPassesThrough: passThrough.reply,
      client: client.wire,
    });
    return writeJson(plan.patches.length > 0 ? applyPatches({ ...body }, plan.patches) : body);
  }
  if (plan.patches.length > 0) {
    const body = parseJson(outline ? new TextDecoder().decode(outline.body) : text);
    return writeJson(applyPatches(isJsonObject(body) ? body : {}, [{ model: resolution.model }, ...plan.patches]));
  }
  const model = JSON.stringify(resolution.model);
  if (outline) return replaceBytes(outline.body, outline.model, model);
  const replaced = replaceMember(text, 'model', model);
  // The text lacks the body's byte order mark, which vendors refuse.
  return replaced === text && routed.body[0] !== byteOrderMark ? routed.body : replaced;
};

/** The first byte of a byte order mark in UTF-8. */
const byteOrderMark = 0xef;

/** The bytes with the text in place of this range; the same bytes if it is there already. */
const replaceBytes = (bytes: Uint8Array, [from, to]: Range, text: string): Uint8Array => {
  const value = Buffer.from(text);
  return value.equals(bytes.subarray(from, to))
    ? bytes
    : Buffer.concat([bytes.subarray(0, from), value, bytes.subarray(to)]);
};

/**
 * Decides what passes through unchanged, before the call: both sides speak the same format, no stage handles that direction,
 * and neither side wants a change. The client's body passes with its model replaced.
 */
export const mayPassThrough = ({
  client,
  clientBody,
  request,
  resolution,
  plan,
  verbatim,
}: Reconciled): PassThrough => {
  const { graph, upstream } = plan;
  return {
    request:
      graph.requestPassThrough.open &&
      verbatim &&
      !resolution.tagged &&
      !client.needsRepair?.(clientBody) &&
      (upstream.acceptsVerbatim?.(request) ?? true),
    reply: graph.replyPassThrough.open && !client.rewritesReply?.(clientBody),
  };
};

/** Decides again once the answer's head has arrived: it must be streamed or whole as the client requested, with the same tool names. */
export const passesThrough = (
  { passThrough, progress, context }: Pick<Answered, 'passThrough' | 'progress' | 'context'>,
  streamed: boolean,
): PassThrough =>
  passThrough.reply && (streamed !== progress.streaming || context.names.changed)
    ? { ...passThrough, reply: false }
    : passThrough;
