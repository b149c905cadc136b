import type { ReactNode } from 'react';

/** A scrollable region with keyboard access. */
export const ScrollRegion = ({
  label,
  className,
  children,
}: {
  readonly label: string;
  readonly className: string;
  readonly children: ReactNode;
}) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions need keyboard access
  <section className={`scroll ${className}`} aria-label={label} tabIndex={0}>
    {children}
  </section>
);
