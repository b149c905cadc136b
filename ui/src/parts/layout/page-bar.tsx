import type { ReactNode } from 'react';
import './page-bar.css';

/** The bar at the top of a page: its title, a few words on it, and the page's tools. It stays in sight. */
export const PageBar = ({
  title,
  about,
  actions,
}: {
  readonly title: ReactNode;
  readonly about?: ReactNode;
  readonly actions?: ReactNode;
}) => (
  <header className="page-bar">
    <h1 className="cut">{title}</h1>
    {about && (
      <p className="page-bar-about soft cut" title={typeof about === 'string' ? about : undefined}>
        {about}
      </p>
    )}
    {actions && <div className="row row-end">{actions}</div>}
  </header>
);
