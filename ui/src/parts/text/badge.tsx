import type { ReactNode } from 'react';
import { classNames } from '../class-names.ts';
import './badge.css';

/** The meaning of a colour. */
export type Tone = 'plain' | 'accent' | 'ok' | 'warn' | 'bad';

/** A short label in a box. */
export const Badge = ({
  tone = 'plain',
  title,
  children,
}: {
  readonly tone?: Tone;
  readonly title?: string | undefined;
  readonly children: ReactNode;
}) => (
  <span className={classNames('badge', `badge-${tone}`)} title={title}>
    {children}
  </span>
);

/** A status light with a label. */
export const Lamp = ({
  tone,
  pulse = false,
  children,
}: {
  readonly tone: Tone;
  readonly pulse?: boolean;
  readonly children: ReactNode;
}) => (
  <span className="lamp">
    <Dot tone={tone} pulse={pulse} />
    {children}
  </span>
);

/** A state as a dot. `title`: its word, as the tooltip and for screen readers; without one, it decorates a word beside it. */
export const Dot = ({
  tone,
  title,
  pulse = false,
}: {
  readonly tone: Tone;
  readonly title?: string;
  readonly pulse?: boolean;
}) => {
  const className = classNames('dot', `dot-${tone}`, pulse && 'dot-pulse');
  return title === undefined ? (
    <span className={className} aria-hidden="true" />
  ) : (
    <span className={className} title={title} role="img" aria-label={title} />
  );
};
