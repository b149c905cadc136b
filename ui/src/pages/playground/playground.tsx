import { Empty } from '../../parts/empty.tsx';
import { PageHeader } from '../../parts/page-header.tsx';

/** Try a request in any of the three protocols. */
export const Playground = () => (
  <>
    <PageHeader title="Playground" about="Try a request in any of the three protocols." />
    <Empty title="This page is being built">
      Until it is here, config.json and the endpoints below /api do the same.
    </Empty>
  </>
);
