import { masked } from './mask-text.ts';
import { isSecretName } from './secret-names.ts';

/**
 * A request's path and query without secrets: values of key-like names are masked, and the rest goes through `maskText`. The
 * query is kept, since it tells what a client asked for.
 */
export const maskUrl = (url: string, maskText: (text: string) => string): string => {
  const queryAt = url.indexOf('?');
  if (queryAt < 0) return maskText(url);
  const query = url.slice(queryAt + 1).replace(/[^&;=]+=[^&;]+/g, maskPair);
  return maskText(`${url.slice(0, queryAt)}?${query}`);
};

const maskPair = (pair: string): string => {
  const name = pair.slice(0, pair.indexOf('='));
  return isSecretName(decodeName(name)) ? `${name}=${masked}` : pair;
};

const decodeName = (name: string): string => {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
};
