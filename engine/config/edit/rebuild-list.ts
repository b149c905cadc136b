import { hasComment, type ListItem, type ListText } from './split-list.ts';

/** How an item changes: kept (with its new text), removed or added. */
export type ItemChange =
  | { readonly type: 'kept'; readonly from: number; readonly text: string }
  | { readonly type: 'removed'; readonly from: number }
  | { readonly type: 'added'; readonly text: string };

/** How an object or an array is laid out. */
interface Layout {
  /** The text's line ending. */
  readonly eol: string;
  /** Indentation of items on their own lines. */
  readonly inner: string;
  /** Indentation of the closing bracket. */
  readonly indent: string;
}

/** Applies changes to a list; comments above removed items stay. */
export const rebuildList = (list: ListText, changes: readonly ItemChange[], layout: Layout): ListText => {
  const fresh = spacing(list, layout);
  const items: ListItem[] = [];
  let carried = '';
  for (const change of changes) {
    const item = change.type === 'added' ? undefined : list.items[change.from];
    const lead = item?.lead ?? '';
    if (change.type === 'removed') {
      if (hasComment(lead)) carried += lead.trimEnd();
      continue;
    }
    // In a one-line list the first item has different spacing than the others.
    const isAtHome = change.type === 'kept' && change.from > 0 === items.length > 0;
    const own = item && (isAtHome || hasComment(lead) || /[\r\n]/.test(lead)) ? lead : fresh(items.length);
    items.push({ lead: carried + own, text: change.text, tail: item?.tail ?? [] });
    carried = '';
  }
  return list.items.length === 0 ? opened(list, items, layout) : { ...list, items, rest: carried + list.rest };
};

/** The indentation after white space and comments, if the next item is on its own line. */
export const indentOf = (lead: string): string | undefined => /(?:\r\n|\r|\n)([ \t]*)$/.exec(lead)?.[1];

/** The white space before an added item. An empty list becomes multi-line. */
const spacing = ({ items }: ListText, { eol, inner }: Layout): ((index: number) => string) => {
  if (items.length === 0 || items.some(({ lead }) => /[\r\n]/.test(lead))) return () => eol + inner;
  const first = items[0]?.lead ?? '';
  return (index) => (index === 0 ? first : ' ');
};

/** Adds items to an empty list, after its comments. */
const opened = (list: ListText, [first, ...others]: readonly ListItem[], { eol, indent }: Layout): ListText => {
  if (!first) return list;
  const comments = hasComment(list.rest) ? list.rest.trimEnd() : '';
  return { ...list, items: [{ ...first, lead: comments + first.lead }, ...others], rest: eol + indent };
};
