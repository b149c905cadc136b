import type { ReactNode } from 'react';
import type { Loaded } from '../../api/use-load.ts';
import { Button } from '../controls/button.tsx';
import { Loading } from './loading.tsx';
import { Notice } from './notice.tsx';

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
