import type { Config } from '../config/config.ts';
import { type Answered, type Decoded, type Exchange, fill, type Reconciled, type Routed } from '../exchange.ts';
import { isJsonObject, keepDigits, withinStack } from '../model/json/json.ts';
import { type Outline, outlineOf } from '../model/json/outline.ts';
import type { ClientProtocol } from '../model/protocol.ts';
import type { ModelRequest, Part } from '../model/request.ts';
import type { Relays } from '../observe/listener.ts';
import type { Gateway } from '../routing/gateway.ts';
import { extractModelTag } from '../routing/resolve.ts';
import { readClientBody, reserveValues } from './read-client-body.ts';
import { newContext } from './route.ts';
import type { SequenceStep } from './rx/sequence.ts';
import { reconcileReasoning } from './signatures.ts';

/** Decodes the client's bytes into a request; `decodeRequest` replaces the client protocol's own. Throws as `parseBody` does. */
export const decode =
  (config: Config, decodeRequest?: ClientProtocol['decodeRequest']): SequenceStep<Exchange, Decoded> =>
  (exchange) =>
    reportDecoded(fill(exchange, parseBody(exchange, config, decodeRequest)));

/** From this many bytes on, an outline costs less than the texts that it leaves out. */
const minBytes = 16 * 1024;

/**
 * Decodes the client's bytes into a request. A large body that is likely to be relayed is decoded by its outline only: neither
 * routing nor a relay reads its long texts, unless there is a router module. Everything else needs `decodeInFull`. Throws as `parseBody` does.
 */
export const decodeOutline = (gateway: Gateway): SequenceStep<Exchange, Decoded> => {
  const whole = decode(gateway.config);
  return (exchange) => {
    const { client, body } = exchange;
    if (body.length < minBytes || gateway.registry.router || !gateway.likelyRelays(client)) return whole(exchange);
    const outlined = parseOutline(exchange, gateway.config);
    return outlined ? reportDecoded(fill(exchange, outlined)) : whole(exchange);
  };
};

/** Reports that the body is decoded. */
const reportDecoded = (decoded: Decoded): Decoded => {
  const { progress, listener, request } = decoded;
  progress.requestedModel = request.model;
  progress.streaming = request.stream;
  listener.decoded?.(decoded);
  return decoded;
};

/**
 * Expresses what only the client's wire format has in terms that others have too, if the upstream speaks another one. The stages
 * then see the request as it will be encoded.
 */
export const leaveWire: SequenceStep<Reconciled, Reconciled> = (reconciled) => express(reconciled, false);

/** The same for stages that are around the call: they see what a vendor's own tools have done. What they leave of it goes before the call. */
export const leaveWireForStages: SequenceStep<Reconciled, Reconciled> = (reconciled) => express(reconciled, true);

const express = <R extends Reconciled>(reconciled: R, keepsHosted: boolean): R => {
  const { client, plan, request, context } = reconciled;
  if (!client.forOtherWires || plan.upstream.wire === client.wire) return reconciled;
  const losses = context.losses.at(plan.format.name);
  return fill(reconciled, { request: client.forOtherWires(request, losses, keepsHosted) });
};

/** Decodes an outlined body in full, unless it is relayed. The step before, `reconcileReasoning`, then runs again. */
export const decodeUnlessPassing = (gateway: Gateway): SequenceStep<Reconciled, Reconciled> => {
  const reconcile = reconcileReasoning(gateway.signatures);
  return (reconciled) => {
    if (!reconciled.outline) return reconciled;
    const { request, reply } = mayRelay(reconciled);
    return request && reply && !reconciled.withoutAttribution
      ? reconciled
      : reconcile(decodeInFull(reconciled, gateway.config));
  };
};

/** Replaces a request that was decoded from an outline by the whole one. Must be called while the body is held. */
export const decodeInFull = <E extends Routed>(routed: E, config: Config): E => {
  if (!routed.outline) return routed;
  const decoded = parseBody(routed, config);
  const { model } = routed.resolution;
  const request = { ...extractModelTag(decoded.request).request, model };
  const resolution = { ...routed.resolution, request };
  fill(routed, decoded);
  return fill(routed, { request, resolution, context: newContext(routed, resolution) });
};

/** A body, decoded whole or by its outline. */
type ParsedBody = Pick<Decoded, 'outline' | 'text' | 'clientBody' | 'request'>;

/**
 * Decodes the whole body. Throws `invalid-request` for a body that isn't JSON or is nested too deeply, and the faults of the
 * client's protocol.
 */
export const parseBody = (
  exchange: Exchange,
  config: Config,
  decodeRequest: ClientProtocol['decodeRequest'] = exchange.client.decodeRequest,
): ParsedBody => {
  const { text, clientBody } = readClientBody(exchange, config);
  const request = withinStack('invalid-request', 'The body has too many parts to be read.', () =>
    decodeRequest(clientBody, config),
  );
  return { outline: undefined, text, clientBody, request };
};

/** Decodes the outline of a body. `undefined` for a body that only a full parse can judge; it also finds the fault. */
export const parseOutline = ({ incoming, client, body }: Exchange, config: Config) => {
  const outline = client.texts && outlineOf(body, { cut: client.texts, depth: config.limits.jsonDepth });
  if (!outline) return undefined;
  reserveValues(incoming, outline.nodes);
  try {
    const clientBody: unknown = keepDigits(outline.json, JSON.parse(outline.json));
    if (!isJsonObject(clientBody)) return undefined;
    const request = client.decodeRequest(clientBody, config);
    return hasCutSignature(request, outline)
      ? undefined
      : { outline, text: '', clientBody, request: restoreStart(request, outline) };
  } catch {
    return undefined;
  }
};

/** The request with the texts that identify it: routing looks for tags in the instructions, and the first turn is hashed. */
const restoreStart = (request: ModelRequest, { restore }: Outline): ModelRequest => {
  const first = request.turns.findIndex(({ role }) => role === 'user');
  const restorePart = <P extends Part>(part: P): P =>
    part.type === 'text' ? { ...part, text: restore(part.text) } : part;
  return {
    ...request,
    system: request.system.map(restorePart),
    turns: request.turns.map((turn, index) =>
      index === first ? { ...turn, parts: turn.parts.map(restorePart) } : turn,
    ),
  };
};

/** Whether a text is cut that belongs to a signature, which is compared. */
const hasCutSignature = ({ turns }: ModelRequest, { restore }: Outline): boolean =>
  turns.some(({ parts }) =>
    parts.some(
      (part) =>
        'signature' in part && part.signature !== undefined && restore(part.signature.data) !== part.signature.data,
    ),
  );

/**
 * Decides what is relayed, before the call: both sides speak the same format, no stage handles that direction,
 * and neither side wants a change. The client's body passes with its model replaced.
 */
export const mayRelay = ({
  client,
  clientBody,
  request,
  resolution,
  plan,
  relayable,
  summarizes,
  progress,
}: Reconciled): Relays => {
  const { graph, upstream } = plan;
  // A stage around the call gets requests and events.
  if (progress.wrapped) return { request: false, reply: false };
  return {
    request:
      graph.requestRelay.open &&
      !summarizes &&
      relayable &&
      !resolution.tagged &&
      !client.needsRepair?.(clientBody) &&
      (upstream.acceptsRelay?.(request, clientBody) ?? true),
    // Stages know nothing of a compacted conversation.
    reply:
      !summarizes && (request.compaction?.byPath || (graph.replyRelay.open && !client.rewritesReply?.(clientBody))),
  };
};

/** Decides again once the answer's head has arrived: it must be streamed or whole as the client requested, with the same tool names. */
export const relaysOf = (
  { relays, progress, context }: Pick<Answered, 'relays' | 'progress' | 'context'>,
  streamed: boolean,
): Relays =>
  relays.reply && !context.request.compaction?.byPath && (streamed !== progress.streaming || context.names.changed)
    ? { ...relays, reply: false }
    : relays;
