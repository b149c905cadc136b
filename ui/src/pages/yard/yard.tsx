import { Empty } from '../../parts/empty.tsx';
import { PageHeader } from '../../parts/page-header.tsx';

/** The lines of the yard and what runs on them. */
export const Yard = () => (
  <>
    <PageHeader title="Yard" about="The lines of the yard and what runs on them." />
    <Empty title="This page is being built">
      Until it is here, config.json and the endpoints below /api do the same.
    </Empty>
  </>
);
