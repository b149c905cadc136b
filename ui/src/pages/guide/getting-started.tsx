import { PageBar } from '../../parts/layout/page-bar.tsx';
import { Guide } from './guide.tsx';

/** The guide as a page of its own, for those who look for it. */
export const GettingStarted = () => (
  <>
    <PageBar title="Getting started" about="From nothing to the first answer of a provider of your own" />
    <Guide isPage />
  </>
);
