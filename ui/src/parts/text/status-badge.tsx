import { Badge, type Tone } from './badge.tsx';

/** The HTTP status of a response. */
export const StatusBadge = ({ status, title }: { readonly status: number; readonly title?: string | undefined }) => (
  <Badge tone={toneOfStatus(status)} title={title ?? (status === 499 ? 'The client disconnected' : undefined)}>
    {status === 499 ? 'aborted' : status}
  </Badge>
);

/** The state of a response by its HTTP status. Red is for what failed for good: a provider that is busy is no fault. */
export const toneOfStatus = (status: number): Tone => {
  if (status === 499) return 'plain';
  if (status < 400) return 'ok';
  return status === 429 || status === 529 ? 'warn' : 'bad';
};
