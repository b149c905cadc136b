import type { ModelRequest } from '../model/request.ts';
import type { Format, Target } from '../model/transformer.ts';
import { upstreamUrl } from '../upstream/url.ts';

/** The URL that a request for `model` is sent to. */
export const callUrl = (format: Format, target: Target, model: string, request: ModelRequest): URL => {
  const path = format.pathFor?.(target, { ...request, model }) ?? format.path;
  return upstreamUrl(target.baseUrl, path.replace('{model}', encodeURIComponent(model)));
};
