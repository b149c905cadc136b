/** The product's logo: a circuit that joins two points, in the form of a J. */
export const Mark = () => (
  <svg className="mark" viewBox="0 0 32 32" aria-hidden="true">
    <rect width="32" height="32" rx="7" />
    <path d="M21 8v10a6 6 0 0 1-12 0" />
    <circle cx="21" cy="8" r="3" />
    <circle cx="9" cy="18" r="3" />
  </svg>
);
