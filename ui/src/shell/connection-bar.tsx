import { connection } from '../api/connection.ts';
import { Notice } from '../parts/notice.tsx';
import { useStore } from '../state/store.ts';

/** Says that the gateway doesn't answer, for as long as it doesn't. */
export const ConnectionBar = () => {
  const { up } = useStore(connection);
  if (up) return null;
  return (
    <Notice kind="warn" title="The gateway does not answer">
      <p role="status">It may be stopped or restarting. This page goes on by itself as soon as it is back.</p>
    </Notice>
  );
};
