import { type ReactNode, useState } from 'react';
import './fold.css';
import { classNames } from '../class-names.ts';

/** A part that can be opened. What is inside isn't rendered before that. */
export const Fold = ({
  title,
  className,
  children,
}: {
  readonly title: ReactNode;
  readonly className?: string;
  readonly children: ReactNode;
}) => {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className={classNames('fold', className)} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{title}</summary>
      {isOpen && <div className="stack-tight fold-content">{children}</div>}
    </details>
  );
};
