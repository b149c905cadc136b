import { defer, EMPTY, expand, map, mergeMap, type Observable, reduce, take } from 'rxjs';
import { Flow } from './flow.ts';
import { FaultError, fail } from './model/fault.ts';
import { isJsonObject, parseJson } from './model/json.ts';
import type { ModelList, ModelPage } from './model/model-list.ts';
import { collectBytes } from './operators/collect-bytes.ts';
import { plainRequest } from './routing/plain-request.ts';
import type { Upstreams } from './upstream/call.ts';
import { decompress } from './upstream/decompress.ts';
import { upstreamUrl } from './upstream/url.ts';
import { callUrl } from './yard/call-url.ts';
import type { Line } from './yard/line.ts';

const mostPages = 10;
const mostBytes = 16 << 20;

/**
 * The models that a provider's vendor lists, without repetition. Fails with the upstream's fault, and with `unsupported` where the
 * vendor has no list that is known.
 */
export const listUpstreamModels = (line: Line, upstreams: Upstreams): Observable<readonly string[]> =>
  defer(() => {
    if (line.fault) throw new FaultError(line.fault);
    const { models } = line.format;
    if (!models)
      return fail('unsupported', `The format "${line.format.name}" has no list of models that is known here.`);
    const page = (query: string | undefined): Observable<ModelPage> => fetchPage(line, models, query, upstreams);
    return page(models.query).pipe(
      expand(({ next }) => (next === undefined ? EMPTY : page(next))),
      take(mostPages),
      reduce<ModelPage, readonly string[]>((all, { models: some }) => [...all, ...some], []),
      map((all) => [...new Set(all)]),
    );
  });

const fetchPage = (
  line: Line,
  list: ModelList,
  query: string | undefined,
  upstreams: Upstreams,
): Observable<ModelPage> => {
  const { provider, format, upstream } = line;
  const credentials = format.headers({
    apiKey: provider.apiKeys[0] ?? '',
    clientHeader: () => undefined,
    request: plainRequest(''),
  });
  const headers = {
    accept: 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'switchyard',
    ...credentials,
  };
  return upstreams.call({ method: 'GET', url: listUrl(line, query), headers, body: '', flow: new Flow() }).pipe(
    mergeMap((answer) => {
      const encoding = answer.headers['content-encoding'];
      const body = encoding === undefined ? answer.body : answer.body.pipe(decompress(encoding));
      return body.pipe(
        collectBytes(mostBytes),
        map((bytes) => {
          const text = new TextDecoder().decode(bytes);
          if (answer.status < 200 || answer.status > 299) {
            throw new FaultError(upstream.decodeFault(answer.status, answer.headers, text));
          }
          const value = parseJson(text);
          return list.decode(isJsonObject(value) ? value : {});
        }),
      );
    }),
  );
};

/** `/models` in the place of what a call's path has behind its version. */
const listUrl = ({ format, target }: Line, query: string | undefined): URL => {
  const asked = plainRequest('model');
  const path = (format.pathFor?.(target, asked) ?? format.path.replace('{model}', 'model')).replace(/\?.*/, '');
  const own = path.replace(/^\/v\d[^/]*(?=\/)/, '');
  const url = callUrl(format, target, 'model', asked);
  if (!url.pathname.endsWith(own))
    return upstreamUrl(target.baseUrl, `${path.slice(0, -own.length)}/models${search(query)}`);
  const base = new URL(url);
  base.pathname = url.pathname.slice(0, -own.length);
  return upstreamUrl(base, `/models${search(query)}`);
};

const search = (query: string | undefined): string => (query === undefined ? '' : `?${query}`);
