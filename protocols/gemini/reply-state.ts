import { AlikeRecords } from '../../engine/model/alike-records.ts';
import type { FinishReason } from '../../engine/model/event.ts';
import type { JsonObject } from '../../engine/model/json.ts';
import type { ReplyContext } from '../../engine/model/protocol.ts';
import type { GenerateContentResponse, GroundingMetadata, UsageMetadata } from './schema.ts';

/** What is known of one answer while it is read. */
export interface ReplyState {
  readonly context: ReplyContext;
  /** The bodies that bring nothing but a delta. */
  readonly alike: AlikeRecords<JsonObject & GenerateContentResponse>;
  started: boolean;
  done: boolean;
  open: 'none' | 'text' | 'thinking';
  /** The open block's index, or the next one's. */
  index: number;
  calls: number;
  finish: FinishReason | undefined;
  promptFeedback: GenerateContentResponse['promptFeedback'];
  usage: UsageMetadata;
  grounding: GroundingMetadata | undefined;
  /** All text of the answer so far, in pieces: grounding comes last and counts from its beginning. */
  readonly text: string[];
  /** Which piece the open text block begins with. */
  textFrom: number;
  /** Up to which byte of the text the sources are given. */
  citedBytes: number;
  /** The signature of the open text block; empty when there is none. It follows the block, as sealed reasoning. */
  textSignature: string;
}

/** An answer of which nothing has come yet. */
export const startState = (context: ReplyContext): ReplyState => ({
  context,
  alike: new AlikeRecords(),
  started: false,
  done: false,
  open: 'none',
  index: 0,
  calls: 0,
  finish: undefined,
  promptFeedback: undefined,
  usage: {},
  grounding: undefined,
  text: [],
  textFrom: 0,
  citedBytes: 0,
  textSignature: '',
});
