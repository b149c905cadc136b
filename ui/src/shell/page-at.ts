import { type PageEntry, pages } from '../pages.ts';
import type { Route } from '../router/route.ts';

/** The page that a route belongs to. */
export const pageAt = ({ segments }: Route): PageEntry | undefined =>
  pages.find(({ name }) => name === (segments[0] ?? ''));
