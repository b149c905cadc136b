import { Badge, type Tone } from './badge.tsx';

/** The status of an answer. */
export const StatusBadge = ({ status, title }: { readonly status: number; readonly title?: string | undefined }) => (
  <Badge tone={toneOf(status)} title={title ?? (status === 499 ? 'The client left' : undefined)}>
    {status === 499 ? 'left' : status}
  </Badge>
);

const toneOf = (status: number): Tone => {
  if (status === 499) return 'plain';
  if (status < 400) return 'ok';
  return status === 429 || status === 529 ? 'warn' : 'bad';
};
