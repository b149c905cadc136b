import { Empty } from '../../parts/empty.tsx';
import { PageHeader } from '../../parts/page-header.tsx';

/** Who answers: the upstream services and their models. */
export const Providers = () => (
  <>
    <PageHeader title="Providers" about="Who answers: the upstream services and their models." />
    <Empty title="This page is being built">
      Until it is here, config.json and the endpoints below /api do the same.
    </Empty>
  </>
);
