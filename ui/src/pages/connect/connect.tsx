import { Empty } from '../../parts/empty.tsx';
import { PageHeader } from '../../parts/page-header.tsx';

/** Point your tools at this gateway. */
export const Connect = () => (
  <>
    <PageHeader title="Connect" about="Point your tools at this gateway." />
    <Empty title="This page is being built">
      Until it is here, config.json and the endpoints below /api do the same.
    </Empty>
  </>
);
