import { useEffect, useState } from 'react';
import { Button } from '../controls/button.tsx';
import './loading.css';
import { Notice } from './notice.tsx';

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
