import { parseJson } from '../model/json/json.ts';
import { classed, kindTest, likeOf, rowWhereOf, shapeTest, whereOf } from './conditions.ts';
import { type Kind, KnownKinds } from './kinds.ts';
import {
  type Answers,
  type FacetName,
  facetNames,
  type Questions,
  type RequestFilter,
  type SessionPart,
  type Sort,
} from './questions.ts';
import { classBounds, classIn, shapeBits } from './shapes.ts';
import type { Database, SqlRow, SqlValue } from './sqlite.ts';
import { usageIn } from './usage-cells.ts';

type Query<Name extends keyof Questions> = Questions[Name]['query'];
type Answer<Name extends keyof Questions> = Questions[Name]['answer'];

/** Requests in a span of time from which on an index in another order, read as a whole, is faster than sorting. */
const wideCount = 100_000;

/** Values of a facet. */
const maxValues = 20;

const maxClientModels = 1_000;

/** Requests of one session that its sums are of. */
const sessionRequests = 10_000;

/** The same of all sessions of a page. */
const maxParts = 50_000;

/** Answers questions about the requests in a database. */
export const storeAnswers = (db: Database): Answers => {
  const known = new KnownKinds();
  const all = (sql: string, ...values: readonly SqlValue[]): readonly SqlRow[] => db.prepare(sql).all(...values);
  const kinds = (): ReadonlyMap<number, Kind> => known.read(db);
  const isWide = ({ fromMs = 0, toMs = Number.MAX_SAFE_INTEGER, session }: RequestFilter): boolean =>
    session === undefined &&
    numberIn(
      all(
        `SELECT COUNT(*) AS count FROM (SELECT 1 FROM requests INDEXED BY requests_ended WHERE ended BETWEEN ? AND ? LIMIT ${wideCount})`,
        fromMs,
        toMs,
      )[0]?.count,
    ) === wideCount;
  /** Where requests are read: in the order of an index where the time is wide. */
  const from = (filter: RequestFilter, wide: string): string => {
    if (filter.session !== undefined) return 'requests INDEXED BY requests_session';
    return isWide(filter) ? `requests ${wide}` : 'requests INDEXED BY requests_ended';
  };
  const byKind = 'INDEXED BY requests_kind';

  const page = ({ filter, sort, limit, before }: Query<'page'>): Answer<'page'> => {
    const { sql, values } = whereOf(filter, kinds());
    const column = sortColumns[sort];
    const cursor = before === undefined ? [] : before.split('_').map(Number);
    const source =
      sort === 'time' && filter.session === undefined
        ? 'requests INDEXED BY requests_ended'
        : from(filter, 'NOT INDEXED');
    const rows = all(
      `SELECT line, id, at FROM (
        SELECT id, ${column} AS at FROM ${source}
        WHERE ${sql} AND ${column} IS NOT NULL${before === undefined ? '' : ` AND (${column}, id) < (?, ?)`}
        ORDER BY ${column} DESC, id DESC LIMIT ?) JOIN lines USING (id) ORDER BY at DESC, id DESC`,
      ...values,
      ...cursor,
      limit,
    );
    const last = rows.length === limit ? rows.at(-1) : undefined;
    return { lines: rows.map(({ line }) => String(line)), next: last && `${last.at}_${last.id}` };
  };

  const find = ({ id, endedAtMs }: Query<'find'>): Answer<'find'> => {
    const rows =
      endedAtMs === undefined
        ? all('SELECT id FROM requests NOT INDEXED WHERE request = ? ORDER BY id DESC LIMIT 1', id)
        : all('SELECT id FROM requests WHERE ended = ? AND request = ? ORDER BY id DESC LIMIT 1', endedAtMs, id);
    const [row] = rows;
    const line = row && all('SELECT line FROM lines WHERE id = ?', numberIn(row.id))[0]?.line;
    return typeof line === 'string' ? line : undefined;
  };

  const extent = (): Answer<'extent'> => {
    const [row = {}] = all(
      'SELECT COUNT(*) AS requests, MIN(ended) AS first, MAX(ended) AS last FROM requests INDEXED BY requests_ended',
    );
    const requests = numberIn(row.requests);
    const pragma = (name: string): number => numberIn(all(`PRAGMA ${name}`)[0]?.[name]);
    const bytes = (pragma('page_count') - pragma('freelist_count')) * pragma('page_size');
    if (requests === 0) return { requests, bytes: 0, fromMs: undefined, toMs: undefined };
    return { requests, bytes, fromMs: numberIn(row.first), toMs: numberIn(row.last) };
  };

  /** Requests by kind and shape, of those that pass the rest of the filter. */
  const groups = (filter: RequestFilter, sums = '0 AS tokens, 0 AS cost') => {
    const known = kinds();
    const { sql, values } = rowWhereOf(filter, known);
    return all(
      `SELECT kind, shape, COUNT(*) AS requests, MAX(ended) AS last, ${sums}
      FROM ${from(filter, byKind)} WHERE ${sql} GROUP BY kind, shape`,
      ...values,
    ).flatMap((row) => {
      const kind = known.get(numberIn(row.kind));
      if (!kind) return [];
      const { shape, requests, last, tokens, cost } = row;
      return {
        kind,
        shape: numberIn(shape),
        requests: numberIn(requests),
        lastMs: numberIn(last),
        tokens: numberIn(tokens),
        cost: numberIn(cost),
      };
    });
  };

  const sessionFacet = (filter: RequestFilter): readonly { readonly value: string; readonly requests: number }[] => {
    const { session: _, ...others } = filter;
    const { sql, values } = whereOf(others, kinds());
    return all(
      `SELECT name, requests, last FROM (
        SELECT session, COUNT(*) AS requests, MAX(ended) AS last FROM requests INDEXED BY requests_session
        WHERE session IS NOT NULL AND ${sql} GROUP BY session ORDER BY requests DESC, last DESC LIMIT ${maxValues})
      JOIN sessions ON sessions.id = session ORDER BY requests DESC, last DESC`,
      ...values,
    ).map(({ name, requests }) => ({ value: String(name), requests: numberIn(requests) }));
  };

  const facets = (filter: RequestFilter): Answer<'facets'> => {
    const counted = groups(filter);
    const counts = new Map<FacetName, Map<string, { requests: number; lastMs: number }>>();
    const sums = { requests: 0, failed: 0, lossy: 0 };
    const names: readonly FacetName[] = [...facetNames.filter((name) => name !== 'session'), ...classed];
    const tests = names.map((name) => {
      const values = new Map<string, { requests: number; lastMs: number }>();
      counts.set(name, values);
      return { name, values, ofKind: kindTest(filter, name), ofShape: shapeTest(filter, name) };
    });
    const [ofKind, ofShape] = [kindTest(filter), shapeTest(filter)];
    for (const { kind, shape, requests, lastMs } of counted) {
      if (ofKind(kind) && ofShape(shape)) {
        sums.requests += requests;
        if ((shape & shapeBits.failed) !== 0) sums.failed += requests;
        if ((shape & shapeBits.lossy) !== 0) sums.lossy += requests;
      }
      for (const test of tests) {
        const value = facetOf(test.name, kind, shape);
        if (value === undefined || !test.ofKind(kind) || !test.ofShape(shape)) continue;
        const known = test.values.get(value);
        test.values.set(value, {
          requests: (known?.requests ?? 0) + requests,
          lastMs: Math.max(known?.lastMs ?? 0, lastMs),
        });
      }
    }
    const shown = (name: FacetName) => {
      const values = [...(counts.get(name) ?? [])].map(([value, count]) => ({ value, ...count }));
      const sorted =
        name in classBounds
          ? values.toSorted((one, other) => Number(one.value) - Number(other.value))
          : values
              .toSorted((one, other) => other.requests - one.requests || other.lastMs - one.lastMs)
              .slice(0, maxValues);
      return sorted.map(({ value, requests }) => ({ value, requests }));
    };
    return {
      ...sums,
      facets: {
        model: shown('model'),
        provider: shown('provider'),
        client: shown('client'),
        scenario: shown('scenario'),
        preset: shown('preset'),
        status: shown('status'),
        session: sessionFacet(filter),
        duration: shown('duration'),
        firstByte: shown('firstByte'),
        cost: shown('cost'),
        tools: shown('tools'),
      },
    };
  };

  const histogram = ({ filter, bars }: Query<'histogram'>): Answer<'histogram'> => {
    const { fromMs: firstMs, toMs: lastMs } = extent();
    const fromMs = filter.fromMs ?? firstMs;
    const toMs = filter.toMs ?? lastMs;
    if (fromMs === undefined || toMs === undefined || toMs < fromMs) return { barMs: 1, bars: [] };
    const barMs = Math.max(1, Math.ceil((toMs - fromMs + 1) / bars));
    const { fromMs: _from, toMs: _to, ...others } = filter;
    const { sql, values } = whereOf(others, kinds());
    const source = filter.session === undefined ? 'requests_ended' : 'requests_session';
    const where = `FROM requests INDEXED BY ${source} WHERE ended BETWEEN ? AND ? AND ${sql}`;
    const count = db.prepare(`SELECT COUNT(*) AS requests, SUM((shape & ${shapeBits.failed}) <> 0) AS failed ${where}`);
    const nth = db.prepare(`SELECT duration ${where} ORDER BY duration DESC LIMIT 1 OFFSET ?`);
    return {
      barMs,
      bars: Array.from({ length: Math.ceil((toMs - fromMs + 1) / barMs) }, (_, at) => {
        const [begin, end] = [fromMs + at * barMs, Math.min(toMs, fromMs + (at + 1) * barMs - 1)];
        const row = count.get(begin, end, ...values) ?? {};
        const requests = numberIn(row.requests);
        const slower = Math.floor(requests * 0.05);
        const p95Ms = requests === 0 ? undefined : numberIn(nth.get(begin, end, ...values, slower)?.duration);
        return { fromMs: begin, requests, failed: numberIn(row.failed), p95Ms };
      }),
    };
  };

  const failures = ({ filter, limit }: Query<'failures'>): Answer<'failures'> => {
    const known = kinds();
    const { sql, values } = whereOf(filter, known);
    return all(
      `SELECT COALESCE(fault, '') AS message, COUNT(*) AS requests, MIN(ended) AS first, MAX(ended) AS last,
        group_concat(DISTINCT kind) AS kinds
      FROM ${from(filter, 'NOT INDEXED')} WHERE (shape & ${shapeBits.failed}) <> 0 AND ${sql}
      GROUP BY message ORDER BY requests DESC, last DESC LIMIT ?`,
      ...values,
      limit,
    ).map((row) => {
      const of = String(row.kinds)
        .split(',')
        .flatMap((id) => known.get(Number(id)) ?? []);
      return {
        message: String(row.message),
        requests: numberIn(row.requests),
        firstMs: numberIn(row.first),
        lastMs: numberIn(row.last),
        statuses: [...new Set(of.map(({ status }) => status))].toSorted((one, other) => one - other),
        models: [...new Set(of.flatMap(modelOf))].toSorted(),
      };
    });
  };

  const clientModels = (filter: RequestFilter): Answer<'clientModels'> => {
    const [ofKind, ofShape] = [kindTest(filter), shapeTest(filter)];
    const sums = new Map<
      string,
      { -readonly [Name in keyof Answer<'clientModels'>[number]]: Answer<'clientModels'>[number][Name] }
    >();
    for (const { kind, shape, requests, tokens, cost } of groups(filter, 'SUM(tokens) AS tokens, SUM(cost) AS cost')) {
      if (!ofKind(kind) || !ofShape(shape)) continue;
      const { client, provider, model } = kind;
      const key = JSON.stringify([client, provider, model]);
      const sum = sums.get(key) ?? { client, provider, model, requests: 0, failed: 0, tokens: 0, cost: 0 };
      sums.set(key, sum);
      sum.requests += requests;
      if ((shape & shapeBits.failed) !== 0) sum.failed += requests;
      sum.tokens += tokens;
      sum.cost += cost;
    }
    return [...sums.values()]
      .toSorted((one, other) => other.cost - one.cost || other.requests - one.requests)
      .slice(0, maxClientModels);
  };

  const sessions = ({ filter, least, failed, text, titled, limit, before }: Query<'sessions'>): Answer<'sessions'> => {
    const known = kinds();
    const { sql, values } = whereOf(filter, known);
    const lower = text.toLowerCase();
    const named = [...known].flatMap(([id, { client, model }]) =>
      [client, model].some((name) => name.toLowerCase().includes(lower)) ? [id] : [],
    );
    const like = likeOf(text);
    const fits = [
      ...(failed ? ['failed > 0'] : []),
      ...(text === ''
        ? []
        : [
            `(found > 0 OR session IN
              (SELECT id FROM sessions WHERE name LIKE ? ESCAPE '\\' OR name IN (SELECT value FROM json_each(?))))`,
          ]),
    ];
    const isFound = `SUM(kind IN (${named.join() || '0'}) OR IFNULL(tools LIKE ? ESCAPE '\\', 0))`;
    const cursor = before === undefined ? [] : before.split('_').map(Number);
    const rows = all(
      `WITH sums AS (
        SELECT session, MAX(ended) AS last, COUNT(*) AS n, SUM((shape & ${shapeBits.failed}) <> 0) AS failed,
          ${text === '' ? '0' : isFound} AS found
        FROM requests INDEXED BY requests_session WHERE session IS NOT NULL AND ${sql} GROUP BY session),
      fitting AS MATERIALIZED (SELECT session, last, n FROM sums WHERE ${fits.join(' AND ') || 'TRUE'})
      SELECT single, session, name, last FROM (SELECT COUNT(*) AS single FROM fitting WHERE n = 1)
      LEFT JOIN (
        SELECT session, name, last FROM fitting JOIN sessions ON sessions.id = session
        WHERE n >= ?${before === undefined ? '' : ' AND (last, session) < (?, ?)'} ORDER BY last DESC, session DESC LIMIT ?) ON TRUE
      ORDER BY last DESC, session DESC`,
      ...(text === '' ? [] : [like]),
      ...values,
      ...(text === '' ? [] : [like, JSON.stringify(titled)]),
      least,
      ...cursor,
      limit,
    );
    const chosen = rows.filter(({ session }) => session !== null);
    const last = chosen.length === limit ? chosen.at(-1) : undefined;
    const ofSession = db.prepare(
      `SELECT kind, started, ended, shape, duration, input, cache_read, cache_write, output, reasoning, cost, tools, turns
      FROM requests INDEXED BY requests_session WHERE session = ? AND ${sql} ORDER BY ended DESC LIMIT ?`,
    );
    const parts: SessionPart[] = [];
    let truncated = false;
    for (const { session, name } of chosen) {
      const most = Math.min(sessionRequests, maxParts - parts.length);
      const requests = ofSession.all(numberIn(session), ...values, most + 1);
      truncated ||= requests.length > most;
      for (const row of requests.slice(0, most)) {
        const kind = known.get(numberIn(row.kind));
        if (kind) parts.push(partOf(String(name), kind, row));
      }
    }
    return {
      ids: chosen.map(({ name }) => String(name)),
      parts,
      single: numberIn(rows[0]?.single),
      truncated,
      next: last && `${last.last}_${last.session}`,
    };
  };

  const usage = (query: Query<'usage'>): Answer<'usage'> => usageIn(db, query);

  return { page, find, extent, facets, histogram, failures, clientModels, sessions, usage };
};

/** The columns of `sorts`. */
const sortColumns = {
  time: 'ended',
  duration: 'duration',
  firstByte: 'first_byte',
  cost: 'cost',
  tokens: 'tokens',
} as const satisfies Record<Sort, string>;

const numberIn = (value: unknown): number => (typeof value === 'number' ? value : 0);

const optional = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);

const modelOf = ({ provider, model }: Kind): readonly string[] => (model === '' ? [] : [`${provider},${model}`]);

/** What a facet counts a request by; `undefined`: it isn't counted. */
const facetOf = (name: FacetName, kind: Kind, shape: number): string | undefined => {
  switch (name) {
    case 'model':
      return modelOf(kind)[0];
    case 'provider':
    case 'client':
    case 'scenario':
    case 'preset':
      return kind[name] || undefined;
    case 'status':
      return String(kind.status);
    case 'session':
      return undefined;
    case 'duration':
    case 'firstByte':
    case 'cost':
    case 'tools': {
      const at = classIn(name, shape);
      return at === undefined ? undefined : String(classBounds[name][at]);
    }
    default:
      return name satisfies never;
  }
};

const partOf = (session: string, kind: Kind, row: SqlRow): SessionPart => {
  const counts = [row.input, row.cache_read, row.cache_write, row.output, row.reasoning];
  const [input, cacheRead, cacheWrite, output, reasoning] = counts.map(numberIn);
  const tools = typeof row.tools === 'string' ? parseJson(row.tools) : undefined;
  return {
    session,
    client: kind.client || undefined,
    startedAt: numberIn(row.started),
    endedAt: numberIn(row.ended),
    failed: kind.failed,
    durationMs: numberIn(row.duration),
    usage: counts.every((count) => count === null)
      ? undefined
      : {
          input: input ?? 0,
          cacheRead: cacheRead ?? 0,
          cacheWrite: cacheWrite ?? 0,
          output: output ?? 0,
          reasoning: reasoning ?? 0,
        },
    cost: optional(row.cost),
    tools: Array.isArray(tools) ? tools.map(String) : [],
    turns: numberIn(row.turns),
    provider: kind.provider || undefined,
    model: kind.model || undefined,
    scenario: kind.scenario || undefined,
  };
};
