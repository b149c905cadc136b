import { lazy, Suspense } from 'react';
import { type PageEntry, pages } from '../pages.ts';
import { Empty, Loading } from '../parts/layout/notice.tsx';
import { PageBar } from '../parts/layout/page-bar.tsx';
import { href, type Route } from '../router/route.ts';

// Created once: a new component would lose its state.
const components = new Map(pages.map(({ name, load }) => [name, lazy(async () => ({ default: await load() }))]));

/** The page of a route; its code is loaded on the first visit. */
export const PageView = ({ page, route }: { readonly page: PageEntry | undefined; readonly route: Route }) => {
  const Page = page && components.get(page.name);
  if (!Page) {
    return (
      <>
        <PageBar title="Page not found" />
        <Empty title={`There is no page at ${route.path}.`} actions={<a href={href('/requests')}>Go to Requests</a>} />
      </>
    );
  }
  return (
    <Suspense fallback={<Loading what={page.title} />}>
      <Page rest={route.segments.slice(page.name.split('/').length)} query={route.query} />
    </Suspense>
  );
};
