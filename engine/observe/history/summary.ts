import Type, { type Static } from 'typebox';
import { shorten } from '../../model/fault.ts';
import type { Loss } from '../../model/loss.ts';

const times = (description: string) => Type.Optional(Type.Number({ description }));
const tokens = Type.Optional(Type.Integer({ minimum: 0 }));

/** A field that a conversion dropped or approximated. */
export const SummaryLoss = Type.Object({
  step: Type.String({ description: "A format's, protocol's or stage's name." }),
  field: Type.String({ description: "Path in the client's own spelling." }),
  action: Type.Union([Type.Literal('dropped'), Type.Literal('approximated')]),
  note: Type.Optional(Type.String()),
});
export type SummaryLoss = Static<typeof SummaryLoss>;

const Wire = Type.Union([Type.Literal('messages'), Type.Literal('chat'), Type.Literal('responses')]);

/** Summary of an ended model request. Texts chosen by clients are cut to a bounded length. */
export const RequestSummary = Type.Object({
  n: Type.Integer({ description: 'Counts the requests of this process up.' }),
  id: Type.String({ description: "The request's `x-request-id`." }),
  startedAt: Type.Integer({ description: 'Milliseconds since 1970.' }),
  path: Type.String(),
  protocol: Wire,
  preset: Type.Optional(Type.String()),
  asked: Type.String({ description: 'The model asked for; empty when the body could not be read.' }),
  stream: Type.Boolean(),
  scenario: Type.Optional(Type.String()),
  reason: Type.Optional(Type.String({ description: 'Why it went where it went.' })),
  provider: Type.Optional(Type.String()),
  model: Type.Optional(Type.String({ description: "The upstream's name of it." })),
  status: Type.Integer({ description: '499: the client went before the end.' }),
  fault: Type.Optional(Type.Object({ kind: Type.String(), message: Type.String() })),
  usage: Type.Optional(
    Type.Object({ input: tokens, cacheRead: tokens, cacheWrite: tokens, output: tokens, reasoning: tokens }),
  ),
  firstByteMs: times('From the arrival of the body to the first byte of the answer.'),
  durationMs: Type.Number({ description: 'From the arrival of the body to the end.' }),
  overheadMs: times('Time to the first byte that the upstream had no part in.'),
  losses: Type.Array(SummaryLoss),
  lossesOmitted: Type.Optional(Type.Integer({ description: 'How many more there were.' })),
  relayed: Type.Object({ request: Type.Boolean(), reply: Type.Boolean() }, { description: 'What passed as it came.' }),
  failedAttempts: Type.Optional(
    Type.Array(
      Type.Object({
        provider: Type.String(),
        model: Type.String(),
        outcome: Type.String({ description: "The upstream's status, else what went wrong in one word." }),
      }),
      { description: 'Tries that came to nothing before this answer, in order.' },
    ),
  ),
  captured: Type.Boolean(),
});
export type RequestSummary = Static<typeof RequestSummary>;

/** Converts a loss for a summary. */
export const showLoss = ({ step, path, outcome, note }: Loss): SummaryLoss => ({
  step,
  field: shorten(path),
  action: outcome,
  ...(note !== undefined && { note: shorten(note) }),
});
