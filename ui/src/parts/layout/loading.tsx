import './loading.css';

/** A placeholder while something loads; visible only if that takes a while. */
export const Loading = ({ what }: { readonly what: string }) => (
  <div className="loading" role="status">
    <span className="loading-track" aria-hidden="true" />
    <span className="unseen">Loading {what}…</span>
  </div>
);
