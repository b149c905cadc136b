import type { ReactNode } from 'react';
import './page-header.css';

/** A page's heading, description and actions. */
export const PageHeader = ({
  title,
  about,
  actions,
}: {
  readonly title: ReactNode;
  readonly about?: ReactNode;
  readonly actions?: ReactNode;
}) => (
  <header className="page-header">
    <div>
      <h1>{title}</h1>
      {about && <p className="soft">{about}</p>}
    </div>
    {actions && <div className="row row-end">{actions}</div>}
  </header>
);
