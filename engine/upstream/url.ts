import { fail } from '../model/fault.ts';

/**
 * Joins a format's path (`/v1/chat/completions`, optionally with a query) to a provider's base URL. Segments that the base
 * already has aren't repeated, and the base's own version segment wins. Queries are merged; the path's values win.
 *
 * `{model}` in the path is replaced by `model`, whose parts become segments. It is filled in last, so that its parts are never
 * taken for a version or a repeated segment. If the name begins with the segment before `{model}`, that isn't repeated
 * (`models/{model}` and `models/x`). `{modelId}` is replaced by the name as one segment. Throws `invalid-request` for a name that would change the path.
 */
export const upstreamUrl = (baseUrl: URL, path: string, model = ''): URL => {
  const [pathname = '', query = ''] = path.split('?', 2);
  const url = new URL(baseUrl);
  const segments = joinSegments(segmentsOf(baseUrl.pathname), segmentsOf(pathname));
  url.pathname = segments
    .map((segment, index) =>
      segment.includes(placeholder)
        ? segment.replace(placeholder, () => encodeModel(withoutCollection(model, segments[index - 1])))
        : segment.replace(whole, () => encodeSegment(model)),
    )
    .join('/');
  url.hash = '';
  for (const [name, value] of new URLSearchParams(query)) url.searchParams.set(name, value);
  return url;
};

const placeholder = '{model}';
const whole = '{modelId}';

/** Whether a path has a place for the model's name. */
export const namesModel = (path: string): boolean => path.includes(placeholder) || path.includes(whole);

const withoutCollection = (model: string, collection: string | undefined): string =>
  collection !== undefined && model.startsWith(`${collection}/`) ? model.slice(collection.length + 1) : model;

const encodeModel = (model: string): string => model.split('/').map(encodeSegment).join('/');

const encodeSegment = (segment: string): string => {
  if (segment === '' || segment === '.' || segment === '..') refuse('no empty, "." or ".." part');
  try {
    // Allowed in a path, and part of a cloud's names for versions.
    return encodeURIComponent(segment).replaceAll('%40', '@');
  } catch {
    return refuse('no lone surrogate');
  }
};

const refuse = (rule: string): never =>
  fail('invalid-request', `model: the upstream takes the model in its URL, so the name may have ${rule}.`, {
    param: 'model',
  });

const segmentsOf = (pathname: string): readonly string[] => pathname.split('/').filter((segment) => segment !== '');

const joinSegments = (base: readonly string[], path: readonly string[]): readonly string[] => {
  const shared = overlap(base, path);
  if (shared > 0) return [...base, ...path.slice(shared)];
  const rest = path.slice(path.findLastIndex(isVersion) + 1);
  const sharedRest = overlap(base, rest);
  if (sharedRest === rest.length || base.some(isVersion)) return [...base, ...rest.slice(sharedRest)];
  return [...base, ...path];
};

/** The number of segments at the end of `base` that equal those at the start of `path`. */
const overlap = (base: readonly string[], path: readonly string[]): number => {
  for (let count = Math.min(base.length, path.length); count > 0; count -= 1) {
    if (path.slice(0, count).every((segment, index) => segment === base[base.length - count + index])) return count;
  }
  return 0;
};

/** `v1`, `v4`, `v1beta`, `v1.1` … */
const isVersion = (segment: string): boolean => /^v\d+(\.\d+)?([a-z]+\d*)?$/.test(segment);

/** A URL's host for sockets: an IPv6 address has no brackets. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');

/** A URL's port, or its scheme's default. */
export const portOf = ({ port, protocol }: URL): number => Number(port) || (protocol === 'https:' ? 443 : 80);
