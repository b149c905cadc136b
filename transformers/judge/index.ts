import {
  type Answer,
  type Batch,
  type JsonObject,
  type Losses,
  type MessageStop,
  type ModelRequest,
  rx,
  Type,
  transformer,
} from 'junctor/transformer';
import { Judging } from './judging.ts';

/**
 * What a Messages client asks for in `safeguards`, and gets in `safeguard_results`. Source: the requests of Claude Code 2.1.332 in auto mode,
 * and what it does with answers.
 */
const kind = 'dangerous_tool_use';

/** Has another model judge the tool calls of answers, while they stream, for clients that ask for it. */
export default transformer({
  name: 'judge',
  about: 'Has another model judge the tool calls of answers, for coding agents that ask for it.',
  when: { client: 'messages', safeguards: true },
  // The client's own vendor judges by itself.
  concerns: ({ isClientsVendor }) => !isClientsVendor,
  asks: true,
  options: Type.Object({
    rules: Type.Optional(
      Type.String({
        title: 'Rules',
        maxLength: 4_000,
        description: "What the judge flags or lets pass, in your own words. They win over the stage's own.",
      }),
    ),
    atLeast: Type.Optional(
      Type.Number({
        title: 'Least probability',
        minimum: 0,
        maximum: 1,
        description:
          'How likely it must be that a call is not flagged, from 0 to 1. Where the provider reports no probability, there is no verdict.',
      }),
    ),
  }),
  around(request, next, context, { rules, atLeast }) {
    const [judge] = context.asks;
    const safeguard = safeguardsOf(request).find(isOurs);
    if (judge === undefined || safeguard === undefined) return next(request);
    return rx.defer(() => {
      const judging = new Judging(request, context, { judge, rules, atLeast, machine: safeguard.classifier_context });
      return next(withoutOurs(request)).pipe(
        rx.concatMap((batch) => withResults(judging.read(batch), judging, context.losses)),
        rx.finalize(() => judging.end()),
      );
    });
  },
});

const safeguardsOf = ({ extra }: ModelRequest): readonly JsonObject[] => {
  const given = extra?.fields.safeguards;
  return Array.isArray(given) ? given.filter(isObject) : [];
};

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isOurs = ({ type }: JsonObject): boolean => type === kind;

/** The request without what the stage answers itself. */
const withoutOurs = (request: ModelRequest): ModelRequest => {
  const { extra } = request;
  if (!extra) return request;
  const { safeguards: _, ...fields } = extra.fields;
  const others = safeguardsOf(request).filter((safeguard) => !isOurs(safeguard));
  return { ...request, extra: { ...extra, fields: others.length > 0 ? { ...fields, safeguards: others } : fields } };
};

/** The end of an answer waits for the verdicts, and has them; all else goes on. */
const withResults = (batch: Batch, judging: Judging, losses: Losses): Answer => {
  const at = batch.findIndex(({ type }) => type === 'message-stop');
  const stop = batch[at];
  if (stop?.type !== 'message-stop') return rx.of(batch);
  const end = judging.results().pipe(rx.map((toolUses) => [endWith(stop, toolUses, losses)]));
  return at > 0 ? rx.concat(rx.of(batch.slice(0, at)), end) : end;
};

const endWith = (stop: MessageStop, toolUses: JsonObject, losses: Losses): MessageStop => {
  const { wire, fields = {} } = stop.extra ?? {};
  const isOwn = wire === 'messages';
  // Values that only another protocol knows have no place beside it.
  if (!isOwn) for (const name of Object.keys(fields)) losses.drop(name);
  const results = [{ type: kind, status: { type: 'available', tool_uses: toolUses } }];
  return { ...stop, extra: { wire: 'messages', fields: { ...(isOwn && fields), safeguard_results: results } } };
};
