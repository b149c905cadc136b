import { type PageEntry, pages } from '../pages.ts';
import type { Route } from '../router/route.ts';

/** The page that a route belongs to: of those whose names its path begins with, the longest. */
export const pageAt = ({ segments }: Route): PageEntry | undefined =>
  pages
    .filter(({ name }) => name.split('/').every((part, at) => part === segments[at]))
    .toSorted((one, other) => other.name.length - one.name.length)[0];
