import Type, { type Static, type TSchema } from 'typebox';
import { clientWires } from './wire/client-wires.ts';

/** A list whose type is readonly. */
export const listOf = <S extends TSchema>(items: S, options = {}) => Type.Immutable(Type.Array(items, options));

export const orNull = <S extends TSchema>(schema: S, options = {}) => Type.Union([schema, Type.Null()], options);

/** The wire formats that clients use. */
export const Wire = Type.Enum(clientWires);
export type Wire = Static<typeof Wire>;
