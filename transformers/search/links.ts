import type { Page } from './outcome.ts';

/** A page that a text links to, and where, in UTF-16 units. */
interface Link {
  readonly page: Page;
  readonly start: number;
  readonly end: number;
}

/** More links of one text aren't reported. */
const maxLinks = 100;
/** The longest title of a Markdown link. */
const maxTitle = 300;
/** Maximum characters after an address that may belong to the sentence around it. */
const maxAfter = 6;

/** The links of a text to these pages, by their addresses: alone, or as Markdown links. */
export const linksIn = (text: string, pages: ReadonlyMap<string, Page>): readonly Link[] => {
  const links: Link[] = [];
  for (const { 0: address, index } of text.matchAll(/https?:\/\/[^\s<>"'\]]{1,2000}/g)) {
    const found = pageAt(address, pages);
    if (!found) continue;
    links.push({ page: found.page, ...rangeOf(text, index, index + found.length) });
    if (links.length >= maxLinks) break;
  }
  return links;
};

const pageAt = (address: string, pages: ReadonlyMap<string, Page>) => {
  for (let { length } = address; length > 0 && address.length - length <= maxAfter; length -= 1) {
    const start = address.slice(0, length);
    const page = pages.get(start) ?? pages.get(`${start}/`);
    if (page) return { page, length };
  }
  return undefined;
};

/** The whole Markdown link around an address, or the address. */
const rangeOf = (text: string, start: number, end: number): Pick<Link, 'start' | 'end'> => {
  if (!text.startsWith('](', start - 2)) return { start, end };
  const close = text.indexOf(')', end);
  const open = text.lastIndexOf('[', start - 3);
  const isLink = open >= 0 && start - open <= maxTitle && close >= end && close - end <= maxTitle;
  return isLink ? { start: open, end: close + 1 } : { start, end };
};
