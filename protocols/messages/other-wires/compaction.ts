import { unsupported } from '../../../engine/model/fault.ts';
import type { Losses } from '../../../engine/model/loss.ts';
import type { OpaquePart, Part, TextPart, Turn } from '../../../engine/model/request.ts';
import { memberPath, reader } from '../../../engine/model/schema.ts';
import { startWith } from '../decode-request/open-summaries.ts';
import { CompactionBlock } from '../schema-request.ts';

const compactionBlock = reader(CompactionBlock);

/**
 * The history from its last summary on, which becomes the user's text: the vendor ignores what stands before it. Without a summary,
 * the same list. Throws an `unsupported` fault for one that only the vendor can read. Source: Anthropic documentation, "Compaction".
 */
export const fromSummary = (turns: readonly Turn[], losses: Losses): readonly Turn[] => {
  for (let index = turns.length - 1; index >= 0; index -= 1) {
    const { parts = [] } = turns[index] ?? {};
    for (let place = parts.length - 1; place >= 0; place -= 1) {
      const part = parts[place];
      const summary = part && summaryOf(part);
      if (!summary) continue;
      losses.approximate(summary.at ?? 'messages', "the user's text");
      const before = parts.slice(0, place);
      for (const left of [...turns.slice(0, index), ...before]) {
        losses.drop(left.at ?? 'messages', 'the summary takes its place');
      }
      return startWith(summary, turns, index, place);
    }
  }
  return turns;
};

const isCompaction = (part: Part): part is OpaquePart =>
  part.type === 'opaque' && part.wire === 'messages' && part.raw.type === 'compaction';

/** The summary in a block; none if there was nothing to summarize. */
const summaryOf = (part: Part): TextPart | undefined => {
  if (!isCompaction(part)) return undefined;
  const { raw, at = 'messages' } = part;
  const { content, encrypted_content: sealed } = compactionBlock.read(raw, at);
  if (content) return { type: 'text', text: content, at: memberPath(at, 'content') };
  if (sealed) unsupported(at, `${at}: only the provider that made this summary can read it.`);
  return undefined;
};
