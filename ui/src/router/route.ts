import { createStore } from '../state/store.ts';

/** The place in the interface, which the address has after `#`. */
export interface Route {
  /** `/requests/abc`. */
  readonly path: string;
  /** Its parts, decoded: `['requests', 'abc']`; the home page has none. */
  readonly segments: readonly string[];
  readonly query: URLSearchParams;
}

const decode = (segment: string): string => {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
};

/** Reads the fragment of an address. */
export const parseHash = (hash: string): Route => {
  const [path = '', query = ''] = hash.replace(/^#/, '').split('?', 2);
  const segments = path.split('/').filter(Boolean).map(decode);
  return { path: `/${segments.map(encodeURIComponent).join('/')}`, segments, query: new URLSearchParams(query) };
};

/** The route that is shown. */
export const route = createStore<Route>(parseHash(window.location.hash));

/** An address for a link: `href('/requests', id)`. Further parts are encoded. */
export const href = (path: string, ...rest: readonly string[]): string =>
  `#${[path.replace(/\/$/, ''), ...rest.map(encodeURIComponent)].join('/') || '/'}`;

/** Navigates to an address made by `href`. */
export const navigate = (to: string): void => {
  window.location.hash = to;
};

/** Replaces the address, without a new entry in the browser's history. */
export const replaceAddress = (to: string): void => {
  try {
    window.history.replaceState(window.history.state, '', to);
  } catch {
    // Browsers limit how often it may change; the page follows nevertheless.
  }
  route.set(parseHash(to));
};

/** Changes parts of the address's query in place; an empty text removes one. */
export const changeQuery = (part: Readonly<Record<string, string>>): void => {
  const { path, query } = route.get();
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(part)) {
    if (value === '') next.delete(name);
    else next.set(name, value);
  }
  replaceAddress(`#${path}${next.size > 0 ? `?${next}` : ''}`);
};
