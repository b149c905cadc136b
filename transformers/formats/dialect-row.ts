import type { EffortWords } from '../../engine/model/wire/efforts.ts';
import type { ChatDialect, ChatField } from '../../protocols/chat/index.ts';

/** Differences of a host or a model family from the form that all compatible servers accept. */
export interface DialectRow {
  /** Its name in the options of a configuration. */
  readonly name: string;
  readonly title: string;
  /** Its marks of recognition, in Markdown for the docs. */
  readonly recognised: string;
  /** Changes besides leaving out the members that it refuses, in Markdown for the docs; empty: none. */
  readonly gets: string;
  /** The members that it refuses. */
  readonly refuses?: readonly ChatField[];
  /** Members that it accepts, though not all servers do. */
  readonly accepts?: readonly ChatField[];
  readonly differ?: Partial<ChatDialect>;
  /** The efforts that a model knows; absent: those of its host. `undefined`: it has no control over its reasoning. */
  readonly efforts?: (model: string) => EffortWords | undefined;
}

/** A dialect with a row's differences. */
export const applyRow = (dialect: ChatDialect, { accepts = [], refuses = [], differ }: DialectRow): ChatDialect => ({
  ...dialect,
  ...differ,
  fields: without(new Set([...dialect.fields, ...accepts]), new Set(refuses)),
  refused: new Set([...dialect.refused, ...refuses]),
});

/** The fields that aren't among `left`. */
export const without = (fields: ReadonlySet<ChatField>, left: ReadonlySet<ChatField>): ReadonlySet<ChatField> =>
  new Set([...fields].filter((field) => !left.has(field)));
