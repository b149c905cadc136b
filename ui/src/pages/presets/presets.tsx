import { Empty } from '../../parts/empty.tsx';
import { PageHeader } from '../../parts/page-header.tsx';

/** Configurations of their own, below a path of their own. */
export const Presets = () => (
  <>
    <PageHeader title="Presets" about="Configurations of their own, below a path of their own." />
    <Empty title="This page is being built">
      Until it is here, config.json and the endpoints below /api do the same.
    </Empty>
  </>
);
