import type { ReactNode } from 'react';
import { classNames } from '../class-names.ts';
import { Icon } from '../controls/icon.tsx';
import './notice.css';

const icons = { info: 'info', done: 'done', warn: 'warn', failed: 'failed' } as const;

/** An inline message. Screen readers announce failures at once. */
export const Notice = ({
  kind = 'info',
  title,
  children,
  actions,
}: {
  readonly kind?: keyof typeof icons;
  readonly title?: string;
  readonly children?: ReactNode;
  readonly actions?: ReactNode;
}) => (
  <div className={classNames('notice', `notice-${kind}`)} role={kind === 'failed' ? 'alert' : undefined}>
    <Icon name={icons[kind]} />
    <div className="notice-text">
      {title && <p className="notice-title">{title}</p>}
      {children && <div>{children}</div>}
      {actions && <div className="row">{actions}</div>}
    </div>
  </div>
);
