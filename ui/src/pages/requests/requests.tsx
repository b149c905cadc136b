import { History } from '../history/history.tsx';
import { Overview } from '../overview/overview.tsx';
import type { PageProps } from '../page.ts';
import { Request } from '../request/request.tsx';
import { Sessions } from '../sessions/sessions.tsx';

/** The home page: the requests, and the one that is open. */
export const Requests = (props: PageProps) => {
  if (props.rest[0] !== undefined) return <Request {...props} />;
  if (props.query.has('group')) return <Sessions {...props} />;
  return props.query.has('from') ? <History {...props} /> : <Overview {...props} />;
};
