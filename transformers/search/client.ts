import type { StageContext } from 'junctor/transformer';

/** The client's one answer, so far. */
export interface Client {
  readonly wire: StageContext['client']['wire'];
  begun: boolean;
  /** UTF-16 units of text. */
  text: number;
  /** The index of its next block. */
  readonly place: () => number;
}
