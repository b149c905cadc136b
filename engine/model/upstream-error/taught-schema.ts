import Type from 'typebox';
import { reader } from '../schema.ts';

const Field = Type.String({ maxLength: 200 });
/** Milliseconds since 1970, within what a date can be. */
const time = Type.Number({ minimum: 0, maximum: 8.64e15 });
const Tokens = Type.Number({ minimum: 1 });
/** The id of a lesson that members share: its model's key, and the field. */
export const idReader = reader(Type.Tuple([Type.String(), Field]));
/** A lesson as members share it, and as it is kept. */
export const taughtReader = reader(
  Type.Object({
    lesson: Type.Union([
      Type.Object({ does: Type.Literal('leave'), field: Field, beside: Type.Optional(Field) }),
      Type.Object({ does: Type.Literal('replace'), field: Field, allowed: Type.Array(Field, { maxItems: 16 }) }),
      Type.Object({
        does: Type.Literal('bound'),
        field: Field,
        min: Type.Optional(Type.Number()),
        max: Type.Optional(Type.Number()),
      }),
      Type.Object({ does: Type.Literal('rename'), field: Field, to: Field }),
      Type.Object({ does: Type.Literal('limit'), field: Type.Literal('max_tokens'), max: Tokens }),
      Type.Object({
        does: Type.Literal('fit'),
        field: Type.Literal('max_tokens'),
        window: Tokens,
        perToken: Type.Number({ exclusiveMinimum: 0 }),
        at: Type.Number(),
      }),
      Type.Object({ does: Type.Literal('beta'), field: Field }),
    ]),
    words: Type.String({ maxLength: 500 }),
    seen: Type.Integer({ minimum: 1 }),
    sinceMs: time,
    untilMs: time,
  }),
);

/** A model's key: provider, model, and a digest of the configuration. */
export const keyReader = reader(Type.Tuple([Type.String(), Type.String(), Type.String()]));
