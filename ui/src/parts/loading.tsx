import './loading.css';

/** Keeps the place of what is being loaded. Shows itself only when that takes a while. */
export const Loading = ({ what = 'Loading' }: { readonly what?: string }) => (
  <div className="loading" role="status">
    <span className="loading-track" aria-hidden="true" />
    <span className="unseen">{what}…</span>
  </div>
);
