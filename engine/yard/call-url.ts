import type { ModelRequest } from '../model/request.ts';
import type { Format, Target } from '../model/transformer.ts';
import { upstreamUrl } from '../upstream/url.ts';

/** The URL that a request for `model` is sent to. It is the same object for many requests. */
export const callUrl = (format: Format, target: Target, model: string, request: ModelRequest): URL => {
  const path = format.pathFor?.(target, request.model === model ? request : { ...request, model }) ?? format.path;
  const wanted = path.includes('{model}') ? path.replace('{model}', encodeURIComponent(model)) : path;
  const urls = known.get(target) ?? new Map<string, URL>();
  const url = urls.get(wanted) ?? upstreamUrl(target.baseUrl, wanted);
  // Models' names come from clients, so their number has no bound of its own.
  if (urls.size >= mostUrls) urls.clear();
  known.set(target, urls.set(wanted, url));
  return url;
};

const known = new WeakMap<Target, Map<string, URL>>();
const mostUrls = 100;
