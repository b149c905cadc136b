import { Empty } from '../../parts/empty.tsx';
import { PageHeader } from '../../parts/page-header.tsx';

/** What the gateway wrote down. */
export const Logs = () => (
  <>
    <PageHeader title="Logs" about="What the gateway wrote down." />
    <Empty title="This page is being built">
      Until it is here, config.json and the endpoints below /api do the same.
    </Empty>
  </>
);
