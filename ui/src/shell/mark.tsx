/** The product's logo: a line with a switch. */
export const Mark = () => (
  <svg className="mark" viewBox="0 0 32 32" aria-hidden="true">
    <rect width="32" height="32" rx="7" />
    <path d="M5 22h22M9 22c7 0 6-12 13-12h5" />
    <circle cx="9" cy="22" r="3" />
  </svg>
);
