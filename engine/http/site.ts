import type { Fault } from '../model/fault.ts';
import type { Endpoint, Params, WordFault } from './endpoint.ts';

/** One thing that is served. A segment `:name` of the path stands for any one, `*` as the last for all that follows. */
export interface Row {
  /** Upper case. A `GET` row also serves `HEAD`. */
  readonly method: string;
  readonly path: string;
  readonly endpoint: Endpoint;
}

/** A row that serves the request. */
export interface Match {
  readonly endpoint: Endpoint;
  readonly params: Params;
}

/** No row serves the request. */
export interface Miss {
  readonly fault: Fault;
  /** Wording of the rows nearest to the path. */
  readonly wordFault: WordFault;
}

/** All that is served, ready to be searched. */
export interface Site {
  readonly find: (method: string, path: string) => Match | Miss;
}

interface Pattern extends Row {
  readonly segments: readonly string[];
}

/**
 * Builds the table of rows. A path without variables wins over one with, then the earlier row wins. `defaultWording` is for
 * paths that no row, or rows of different wording, are near to.
 */
export const site = (rows: readonly Row[], defaultWording: WordFault): Site => {
  const patterns = rows.map((row): Pattern => ({ ...row, segments: row.path.split('/') }));
  const literal = new Map<string, Pattern[]>();
  for (const pattern of patterns) {
    if (!isVariable(pattern)) literal.set(pattern.path, [...(literal.get(pattern.path) ?? []), pattern]);
  }
  const variable = patterns.filter(isVariable);

  return {
    find(method, path) {
      const fixed = literal.get(path);
      const row = fixed && byMethod(fixed, method);
      if (row) return { endpoint: row.endpoint, params: none };
      const segments = path.split('/');
      const fitting = variable.filter((pattern) => paramsOf(pattern, segments) !== undefined);
      const found = byMethod(fitting, method);
      const params = found && paramsOf(found, segments);
      if (found && params) return { endpoint: found.endpoint, params };
      const [known, ...others] = [...(fixed ?? []), ...fitting];
      return known
        ? { fault: wrongMethod([known, ...others], method, path), wordFault: known.endpoint.wordFault }
        : notFound(path, nearest(patterns, segments));
    },
  };

  function notFound(path: string, near: readonly Pattern[]): Miss {
    const first = near[0]?.endpoint.wordFault;
    const wordFault = first && near.every(({ endpoint }) => endpoint.wordFault === first) ? first : defaultWording;
    return { fault: { kind: 'not-found', message: `Nothing is served at ${path.slice(0, 200)}.` }, wordFault };
  }
};

const none: Params = {};

const isVariable = ({ segments }: Pattern): boolean =>
  segments.some((segment) => segment.startsWith(':')) || segments.at(-1) === '*';

const byMethod = (rows: readonly Pattern[], method: string): Pattern | undefined =>
  rows.find((row) => row.method === method) ??
  (method === 'HEAD' ? rows.find((row) => row.method === 'GET') : undefined);

const wrongMethod = (known: readonly Pattern[], method: string, path: string): Fault => {
  const served = new Set(known.flatMap((row) => (row.method === 'GET' ? ['GET', 'HEAD'] : [row.method])));
  const allow = [...served].join(', ');
  const message = `${path.slice(0, 200)} doesn't take ${method.slice(0, 40)}; it takes ${allow}.`;
  return { kind: 'method-not-allowed', message, headers: { allow } };
};

const paramsOf = ({ segments }: Pattern, asked: readonly string[]): Params | undefined => {
  const rest = segments.at(-1) === '*';
  if (rest ? asked.length < segments.length : asked.length !== segments.length) return undefined;
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
    } else if (segment !== asked[index]) return undefined;
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

/** The rest of a path is used as a file's name, so nothing in it may lead out of its folder. */
const isFileSegment = (segment: string | undefined): segment is string =>
  segment !== undefined && segment !== '.' && segment !== '..' && !/[/\\\0]/.test(segment);

/** The rows whose paths begin as the one asked for does, for as many segments as any. */
const nearest = (patterns: readonly Pattern[], asked: readonly string[]): readonly Pattern[] => {
  const shared = patterns.map((pattern) => sharedSegments(pattern, asked));
  const most = Math.max(0, ...shared);
  return most === 0 ? [] : patterns.filter((_, index) => shared[index] === most);
};

const sharedSegments = ({ segments }: Pattern, asked: readonly string[]): number => {
  // The first segment of every path is empty: what comes before its leading slash.
  const rest = segments.slice(1);
  const fits = (segment: string, given: string | undefined): boolean =>
    segment !== '' && (segment === given || segment.startsWith(':'));
  const apart = rest.findIndex((segment, index) => !fits(segment, asked[index + 1]));
  return apart < 0 ? Math.min(rest.length, asked.length - 1) : apart;
};
