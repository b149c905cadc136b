import { Empty } from '../../parts/empty.tsx';
import { PageHeader } from '../../parts/page-header.tsx';

/** The whole configuration, its backups, and the service. */
export const Settings = () => (
  <>
    <PageHeader title="Settings" about="The whole configuration, its backups, and the service." />
    <Empty title="This page is being built">
      Until it is here, config.json and the endpoints below /api do the same.
    </Empty>
  </>
);
