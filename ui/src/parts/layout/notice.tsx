import { type ReactNode, useEffect, useState } from 'react';
import { classNames } from '../class-names.ts';
import { Button, Icon } from '../controls/button.tsx';
import './notice.css';
import type { AnsweredNodes } from '../../api/requests/requests.ts';
import type { Loaded } from '../../api/use-load.ts';
import { count, counted } from '../../format/figures.ts';

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

/** After so long, it is said that something is wrong, in milliseconds. */
const lateMs = 4_000;

/** A placeholder while something loads; visible only if that takes a while. After some seconds it says so, with a way on. */
export const Loading = ({ what }: { readonly what: string }) => {
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    const timer = window.setTimeout(() => setLate(true), lateMs);
    return () => window.clearTimeout(timer);
  }, []);
  if (isLate) {
    return (
      <Notice
        kind="warn"
        title={`Still loading ${what}`}
        actions={
          <Button icon="reload" onClick={() => window.location.reload()}>
            Reload the page
          </Button>
        }
      >
        <span role="status">The gateway has not answered for {lateMs / 1_000} s. Drafts are kept.</span>
      </Notice>
    );
  }
  return (
    <div className="loading" role="status">
      <span className="loading-track" aria-hidden="true" />
      <span className="unseen">Loading {what}…</span>
    </div>
  );
};

/** Says what could not be loaded and why, and tries again. */
export const LoadFailed = ({
  what,
  error,
  onRetry,
  children,
}: {
  readonly what: string;
  readonly error: string;
  readonly onRetry: () => void;
  /** What else may help. */
  readonly children?: ReactNode;
}) => (
  <Notice
    kind="failed"
    title={`Could not load ${what}`}
    actions={
      <>
        <Button icon="reload" onClick={onRetry}>
          Try again
        </Button>
        {children}
      </>
    }
  >
    {error}
  </Notice>
);

/** What was loaded; before that, that it loads; and whenever that fails, why, with another try. */
export const LoadedView = <T,>({
  what,
  of: { data, error, reload },
  children,
}: {
  readonly what: string;
  readonly of: Loaded<T>;
  readonly children: (data: T) => ReactNode;
}) => (
  <>
    {error !== undefined && <LoadFailed what={what} error={error} onRetry={reload} />}
    {data !== undefined ? children(data) : error === undefined && <Loading what={what} />}
  </>
);

/** Says which part of a fleet is missing in what a page shows; nothing if all machines answered. */
export const NodesNotice = ({ machines }: { readonly machines: AnsweredNodes | undefined }) =>
  machines && machines.heard < machines.known ? (
    <Notice kind="warn" title={`${count(machines.heard)} of ${counted(machines.known, 'machine')} answered`}>
      Requests of the others are missing here. They must be able to reach each other by HTTP; see FLEET.address.
    </Notice>
  ) : null;
