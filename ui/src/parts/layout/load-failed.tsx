import type { ReactNode } from 'react';
import { Button } from '../controls/button.tsx';
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
