import type { ReactNode } from 'react';

/** A part of the page that scrolls by itself, also by key. */
export const ScrollRegion = ({
  label,
  className,
  children,
}: {
  readonly label: string;
  readonly className: string;
  readonly children: ReactNode;
}) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by key
  <section className={className} aria-label={label} tabIndex={0}>
    {children}
  </section>
);
