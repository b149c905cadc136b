import type { TSchema } from 'typebox';
import type { Row } from '../engine/http/site.ts';

/** What the description of the service says of one row. */
export interface OperationDoc {
  /** One line. */
  readonly summary: string;
  /** Heading under which it stands. */
  readonly group: 'models' | 'management' | 'operation';
  /** Query parameters by name. */
  readonly query?: Readonly<Record<string, TSchema>>;
  /** The JSON body that it takes. */
  readonly request?: TSchema;
  /** Statuses besides the faults' own. */
  readonly answers: Readonly<Record<number, AnswerDoc>>;
  /** Every fault's body. */
  readonly fault?: TSchema;
}

/** One answer. */
export interface AnswerDoc {
  readonly says: string;
  /** The body by media type; a text that isn't JSON has no schema of its own. Absent: no body. */
  readonly content?: Readonly<Record<string, TSchema>>;
}

/** A row that can be described. */
export interface DocumentedRow extends Row {
  /** Absent: it is served, but not part of the description. */
  readonly doc?: OperationDoc;
}
