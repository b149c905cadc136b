import { hasComment, type Item, type ListText } from './list-text.ts';

/** What becomes of a member: it stays, perhaps changed; it goes; or it is new. */
export type Step =
  | { readonly type: 'kept'; readonly from: number; readonly text: string }
  | { readonly type: 'removed'; readonly from: number }
  | { readonly type: 'added'; readonly text: string };

/** How an object or an array is laid out. */
export interface Layout {
  /** The text's line end. */
  readonly eol: string;
  /** Indentation of the members, where each has a line of its own. */
  readonly inner: string;
  /** Indentation of the closing bracket. */
  readonly indent: string;
}

/** Lines up what stays and what is new; comments above what goes stay where they are. */
export const arrangeList = (list: ListText, steps: readonly Step[], layout: Layout): ListText => {
  const fresh = spacing(list, layout);
  const items: Item[] = [];
  let carried = '';
  for (const step of steps) {
    const item = step.type === 'added' ? undefined : list.items[step.from];
    const lead = item?.lead ?? '';
    if (step.type === 'removed') {
      if (hasComment(lead)) carried += lead.trimEnd();
      continue;
    }
    // On one line, the first member has another distance to what is before it than the others.
    const isAtHome = step.type === 'kept' && step.from > 0 === items.length > 0;
    const own = item && (isAtHome || hasComment(lead) || /[\r\n]/.test(lead)) ? lead : fresh(items.length);
    items.push({ lead: carried + own, text: step.text, tail: item?.tail ?? [] });
    carried = '';
  }
  return list.items.length === 0 ? opened(list, items, layout) : { ...list, items, rest: carried + list.rest };
};

/** The indentation of what follows a piece of white space and comments, when that stands on a line of its own. */
export const indentOf = (lead: string): string | undefined => /(?:\r\n|\r|\n)([ \t]*)$/.exec(lead)?.[1];

/** What stands before a member that is new in its place. An empty list opens up when something comes into it. */
const spacing = ({ items }: ListText, { eol, inner }: Layout): ((index: number) => string) => {
  if (items.length === 0 || items.some(({ lead }) => /[\r\n]/.test(lead))) return () => eol + inner;
  const first = items[0]?.lead ?? '';
  return (index) => (index === 0 ? first : ' ');
};

/** Comments in an empty list stand in its rest; members come behind them. */
const opened = (list: ListText, [first, ...others]: readonly Item[], { eol, indent }: Layout): ListText => {
  if (!first) return list;
  const comments = hasComment(list.rest) ? list.rest.trimEnd() : '';
  return { ...list, items: [{ ...first, lead: comments + first.lead }, ...others], rest: eol + indent };
};
