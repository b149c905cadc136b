import { type ReactNode, useId } from 'react';
import { classNames } from '../class-names.ts';
import './panel.css';

/** A section of a page with a heading. */
export const Panel = ({
  title,
  about,
  actions,
  flush = false,
  className,
  children,
}: {
  readonly title: string;
  /** A sentence below the heading. */
  readonly about?: ReactNode;
  /** Controls beside the heading. */
  readonly actions?: ReactNode;
  /** The content reaches to the panel's edges: a table, a drawing. */
  readonly flush?: boolean;
  readonly className?: string;
  readonly children: ReactNode;
}) => {
  const id = useId();
  return (
    <section className={classNames('panel', flush && 'panel-flush', className)} aria-labelledby={id}>
      <header className="panel-head">
        <div>
          <h2 id={id}>{title}</h2>
          {about && <p className="soft small">{about}</p>}
        </div>
        {actions && <div className="row row-end">{actions}</div>}
      </header>
      <div className="stack panel-content">{children}</div>
    </section>
  );
};
