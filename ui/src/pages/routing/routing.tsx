import { Empty } from '../../parts/empty.tsx';
import { PageHeader } from '../../parts/page-header.tsx';

/** Which model answers which request. */
export const Routing = () => (
  <>
    <PageHeader title="Routing" about="Which model answers which request." />
    <Empty title="This page is being built">
      Until it is here, config.json and the endpoints below /api do the same.
    </Empty>
  </>
);
