import type { ReactNode } from 'react';
import './empty.css';

/** An empty state: what is missing, and how to get it. */
export const Empty = ({
  title,
  children,
  actions,
}: {
  readonly title: string;
  readonly children?: ReactNode;
  readonly actions?: ReactNode;
}) => (
  <div className="empty">
    <svg className="empty-drawing" viewBox="0 0 120 36" aria-hidden="true">
      <path d="M4 28h112M28 28c22 0 18-20 40-20h48" />
      <circle cx="28" cy="28" r="4" />
    </svg>
    <p className="empty-title">{title}</p>
    {children && <div className="soft">{children}</div>}
    {actions && <div className="row">{actions}</div>}
  </div>
);
