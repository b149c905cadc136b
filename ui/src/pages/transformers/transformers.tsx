import { Empty } from '../../parts/empty.tsx';
import { PageHeader } from '../../parts/page-header.tsx';

/** What happens to requests and answers on their way. */
export const Transformers = () => (
  <>
    <PageHeader title="Transformers" about="What happens to requests and answers on their way." />
    <Empty title="This page is being built">
      Until it is here, config.json and the endpoints below /api do the same.
    </Empty>
  </>
);
