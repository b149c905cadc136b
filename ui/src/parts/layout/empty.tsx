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
    <p className="empty-title">{title}</p>
    {children && <div className="soft">{children}</div>}
    {actions && <div className="row">{actions}</div>}
  </div>
);
