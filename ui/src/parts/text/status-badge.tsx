import { Badge, type Tone } from './badge.tsx';

/** The HTTP status of a response. */
export const StatusBadge = ({ status, title }: { readonly status: number; readonly title?: string | undefined }) => (
  <Badge tone={toneOf(status)} title={title ?? (status === 499 ? 'The client disconnected' : undefined)}>
    {status === 499 ? 'aborted' : status}
  </Badge>
);

const toneOf = (status: number): Tone => {
  if (status === 499) return 'plain';
  if (status < 400) return 'ok';
  return status === 429 || status === 529 ? 'warn' : 'bad';
};
