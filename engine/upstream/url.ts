/**
 * The URL to call: a format's own path (`/v1/chat/completions`, with a query or not) below a provider's base URL. What the
 * base already has of the path isn't repeated, and a base with a version segment of its own keeps that one. The base's query
 * is kept; where both set a name, the path's value wins, since the format needs it.
 */
export const upstreamUrl = (baseUrl: URL, path: string): URL => {
  const [pathname = '', query = ''] = path.split('?', 2);
  const url = new URL(baseUrl);
  url.pathname = joinSegments(segmentsOf(baseUrl.pathname), segmentsOf(pathname)).join('/');
  url.hash = '';
  for (const [name, value] of new URLSearchParams(query)) url.searchParams.set(name, value);
  return url;
};

const segmentsOf = (pathname: string): readonly string[] => pathname.split('/').filter((segment) => segment !== '');

const joinSegments = (base: readonly string[], path: readonly string[]): readonly string[] => {
  const shared = overlap(base, path);
  if (shared > 0) return [...base, ...path.slice(shared)];
  const rest = path.slice(path.findLastIndex(isVersion) + 1);
  const sharedRest = overlap(base, rest);
  if (sharedRest === rest.length || base.some(isVersion)) return [...base, ...rest.slice(sharedRest)];
  return [...base, ...path];
};

/** How many segments at the end of `base` are those at the start of `path`. */
const overlap = (base: readonly string[], path: readonly string[]): number => {
  for (let count = Math.min(base.length, path.length); count > 0; count -= 1) {
    if (path.slice(0, count).every((segment, index) => segment === base[base.length - count + index])) return count;
  }
  return 0;
};

/** `v1`, `v4`, `v1beta`, `v1.1` … */
const isVersion = (segment: string): boolean => /^v\d+(\.\d+)?([a-z]+\d*)?$/.test(segment);
