import { defer, map, type Observable, of } from 'rxjs';
import { type Exchange, newDelivery, type Ready } from './exchange.ts';
import { Flow } from './flow.ts';
import { masked, textMask } from './log/mask-text.ts';
import { maskUrl } from './log/mask-url.ts';
import { quietLogs } from './log/quiet-logs.ts';
import { isSecretName } from './log/secret-names.ts';
import { createLossCounter } from './loss-counter.ts';
import { silentMeter } from './metrics/request-meter.ts';
import { isJsonObject, type JsonObject, parseJson } from './model/json.ts';
import type { ClientProtocol, Headers } from './model/protocol.ts';
import type { WireFormat } from './model/request.ts';
import { prepare } from './pipeline.ts';
import { fallbacksOf } from './routing/fallbacks.ts';
import type { Yard } from './yard/yard.ts';

/** A request to be explained. */
export interface Question {
  readonly client: ClientProtocol;
  /** As a client would send it. */
  readonly body: JsonObject;
  /** Headers that the client would send, by lower-case name. */
  readonly headers: Headers;
  /** When it is asked, in milliseconds since 1970. */
  readonly atMs: number;
}

/**
 * What would become of a request, without calling anybody: where it goes and why, the call that would be made with its secrets
 * masked, what is lost on the way, which halves pass through as they come, and who would be asked next. It runs the pipeline's own steps, custom stages
 * included, but leaves neither log records nor counts. Fails with the fault that the client would get.
 */
export const explain = (question: Question, yard: Yard): Observable<JsonObject> =>
  defer(() => {
    const exchange = exchangeFor(question);
    return of(exchange).pipe(
      prepare(exchange, { ...yard, log: quietLogs.app, losses: createLossCounter() }),
      map((ready) => show(ready, yard)),
    );
  });

/** The smallest request with a text, as clients of a wire format write it. */
export const smallRequest = (client: WireFormat, model: string, text: string): JsonObject =>
  client === 'responses'
    ? { model, input: text }
    : { model, max_tokens: 1024, messages: [{ role: 'user', content: text }] };

const exchangeFor = ({ client, body, headers, atMs }: Question): Exchange => ({
  id: 'explain',
  seed: '0'.repeat(24),
  startedAtMs: atMs,
  client,
  body: Buffer.from(JSON.stringify(body)),
  clientHeader: (name) => headers[name],
  flow: new Flow(),
  delivery: newDelivery(),
  meter: silentMeter,
});

const show = (
  { client, asked, request, resolution, line, relays, context, call }: Ready,
  { config, lineTo }: Yard,
): JsonObject => {
  const { provider, model, scenario, reason, tokens, warnings } = resolution;
  const maskText = textMask(() => provider.apiKeys);
  const body = parseJson(call.body);
  return {
    client: client.wire,
    asked: asked.model,
    scenario,
    reason,
    tokens: tokens ?? null,
    provider: provider.name,
    model,
    format: line.format.name,
    stream: request.stream,
    url: maskUrl(call.url.href, maskText),
    headers: Object.fromEntries(
      Object.entries(call.headers).map(([name, value]) => [name, isSecretName(name) ? masked : maskText(value)]),
    ),
    body: isJsonObject(body) ? body : call.body,
    losses: context.losses.list.map((loss) => ({ ...loss })),
    relays: { ...relays },
    fallbacks: fallbacksOf(resolution, config).map((destination) => {
      const { format, fault } = lineTo({ client, ...destination });
      const { provider: next, model: asks } = destination;
      return { provider: next.name, model: asks, format: format.name, fault: fault?.message ?? null };
    }),
    warnings: [...warnings],
  };
};
