import { lazy, Suspense } from 'react';
import { type PageEntry, pages } from '../pages.ts';
import { Empty } from '../parts/layout/empty.tsx';
import { Loading } from '../parts/layout/loading.tsx';
import { PageHeader } from '../parts/layout/page-header.tsx';
import { href, type Route } from '../router/route.ts';

// Created once: a new component would lose its state.
const components = new Map(pages.map(({ name, load }) => [name, lazy(async () => ({ default: await load() }))]));

/** The page of a route; its code is loaded on the first visit. */
export const PageView = ({ page, route }: { readonly page: PageEntry | undefined; readonly route: Route }) => {
  const Page = page && components.get(page.name);
  if (!Page) {
    return (
      <>
        <PageHeader title="Page not found" />
        <Empty title={`There is no page at ${route.path}.`} actions={<a href={href('/')}>Go to the Overview</a>} />
      </>
    );
  }
  return (
    <Suspense fallback={<Loading what={page.title} />}>
      <Page rest={route.segments.slice(1)} query={route.query} />
    </Suspense>
  );
};
