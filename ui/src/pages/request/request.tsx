import { Empty } from '../../parts/empty.tsx';
import { PageHeader } from '../../parts/page-header.tsx';

/** One request as it went through. */
export const Request = () => (
  <>
    <PageHeader title="Request" about="One request as it went through." />
    <Empty title="This page is being built">
      Until it is here, config.json and the endpoints below /api do the same.
    </Empty>
  </>
);
