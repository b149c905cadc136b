import { connection } from '../api/connection.ts';
import { Notice } from '../parts/layout/notice.tsx';
import { useStore } from '../state/store.ts';

/** Shown while the gateway doesn't respond. */
export const ConnectionBar = () => {
  const { up } = useStore(connection);
  if (up) return null;
  return (
    <Notice kind="warn" title="The gateway is not responding">
      <p role="status">It may be stopped or restarting. This page reconnects automatically.</p>
    </Notice>
  );
};
