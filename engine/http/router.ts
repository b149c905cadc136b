import type { Fault } from '../model/fault.ts';
import type { Endpoint, FormatFault, Params } from './endpoint.ts';

/** A route. A path segment `:name` matches any one segment; a last segment `*` matches the rest of the path. */
export interface HttpRoute {
  /** Upper case. A `GET` route also serves `HEAD`. */
  readonly method: string;
  readonly path: string;
  readonly endpoint: Endpoint;
}

/** The route that serves a request. */
export interface RouteMatch {
  readonly endpoint: Endpoint;
  readonly params: Params;
}

/** No route serves the request. */
interface NoRouteMatch {
  readonly fault: Fault;
  /** Error format of the routes closest to the path. */
  readonly formatFault: FormatFault;
}

/** Finds the route for a request. */
export interface HttpRouter {
  readonly find: (method: string, path: string) => RouteMatch | NoRouteMatch;
}

interface Pattern extends HttpRoute {
  readonly segments: readonly string[];
}

/**
 * Compiles routes into a router. A path without variables wins over one with variables, then the earlier route wins.
 * `defaultFormat` formats faults of paths without a closest route, or whose closest routes differ in format.
 */
export const createRouter = (routes: readonly HttpRoute[], defaultFormat: FormatFault): HttpRouter => {
  const patterns = routes.map((route): Pattern => ({ ...route, segments: route.path.split('/') }));
  const literal = new Map<string, Pattern[]>();
  for (const pattern of patterns) {
    if (!isVariable(pattern)) literal.set(pattern.path, [...(literal.get(pattern.path) ?? []), pattern]);
  }
  const variable = patterns.filter(isVariable);

  return {
    find(method, path) {
      const fixed = literal.get(path);
      const route = fixed && byMethod(fixed, method);
      if (route) return { endpoint: route.endpoint, params: none };
      const segments = path.split('/');
      const matching = variable.filter((pattern) => paramsOf(pattern, segments) !== undefined);
      const found = byMethod(matching, method);
      const params = found && paramsOf(found, segments);
      if (found && params) return { endpoint: found.endpoint, params };
      const [known, ...others] = [...(fixed ?? []), ...matching];
      return known
        ? { fault: wrongMethod([known, ...others], method, path), formatFault: known.endpoint.formatFault }
        : notFound(path, nearest(patterns, segments));
    },
  };

  function notFound(path: string, near: readonly Pattern[]): NoRouteMatch {
    const first = near[0]?.endpoint.formatFault;
    const formatFault = first && near.every(({ endpoint }) => endpoint.formatFault === first) ? first : defaultFormat;
    return { fault: { kind: 'not-found', message: `Nothing is served at ${path.slice(0, 200)}.` }, formatFault };
  }
};

const none: Params = {};

const isVariable = ({ segments }: Pattern): boolean =>
  segments.some((segment) => segment.startsWith(':')) || segments.at(-1) === '*';

const byMethod = (routes: readonly Pattern[], method: string): Pattern | undefined =>
  routes.find((route) => route.method === method) ??
  (method === 'HEAD' ? routes.find((route) => route.method === 'GET') : undefined);

const wrongMethod = (known: readonly Pattern[], method: string, path: string): Fault => {
  const served = new Set(known.flatMap((route) => (route.method === 'GET' ? ['GET', 'HEAD'] : [route.method])));
  const allow = [...served].join(', ');
  const message = `${path.slice(0, 200)} doesn't take ${method.slice(0, 40)}; it takes ${allow}.`;
  return { kind: 'method-not-allowed', message, headers: { allow } };
};

const paramsOf = ({ segments }: Pattern, asked: readonly string[]): Params | undefined => {
  const rest = segments.at(-1) === '*';
  if (rest ? asked.length < segments.length : asked.length !== segments.length) return undefined;
  // First without decoding: nearly all routes differ in a fixed segment.
  if (!segments.every((segment, index) => segment === asked[index] || segment[0] === ':' || segment === '*'))
    return undefined;
  const params: Record<string, string> = {};
  for (const [index, segment] of segments.entries()) {
    if (rest && index === segments.length - 1) {
      const tail = asked.slice(index).map(decode);
      if (!tail.every(isFileSegment)) return undefined;
      params['*'] = tail.join('/');
    } else if (segment.startsWith(':')) {
      const value = decode(asked[index] ?? '');
      if (!value) return undefined;
      params[segment.slice(1)] = value;
    }
  }
  return params;
};

const decode = (segment: string): string | undefined => {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
};

/** Whether a segment is safe in a file path: the rest of a path names a file and must not leave its folder. */
const isFileSegment = (segment: string | undefined): segment is string =>
  segment !== undefined && segment !== '.' && segment !== '..' && !/[/\\\0]/.test(segment);

/** The routes that share the longest prefix of segments with the requested path. */
const nearest = (patterns: readonly Pattern[], asked: readonly string[]): readonly Pattern[] => {
  const shared = patterns.map((pattern) => sharedSegments(pattern, asked));
  const longest = Math.max(0, ...shared);
  return longest === 0 ? [] : patterns.filter((_, index) => shared[index] === longest);
};

const sharedSegments = ({ segments }: Pattern, asked: readonly string[]): number => {
  // The first segment is empty: it precedes the leading slash.
  const rest = segments.slice(1);
  const matches = (segment: string, given: string | undefined): boolean =>
    segment !== '' && (segment === given || segment.startsWith(':'));
  const apart = rest.findIndex((segment, index) => !matches(segment, asked[index + 1]));
  return apart < 0 ? Math.min(rest.length, asked.length - 1) : apart;
};
