import type { Headers } from '../../model/protocol.ts';
import { isSecretName } from '../../observe/log/mask-text.ts';

/** A request to render as a curl command. */
interface CurlRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  /** Body text with secrets already masked. */
  readonly body: string;
  /** Only the beginning of the body was recorded. */
  readonly truncated: boolean;
  /** The credential and the variable that replaces it. Headers with secret names are omitted unless they contain it. */
  readonly secret: string | undefined;
  readonly variable: string;
}

/**
 * Renders a curl command for POSIX shells. A variable replaces the credential; the body is a quoted here-document, so that the
 * shell expands nothing in it.
 */
export const curlCommand = ({ method, url, headers, body, truncated, secret, variable }: CurlRequest): string => {
  const word = (text: string): string => shellWord(text, secret, variable);
  const kept = Object.entries(headers).filter(
    ([name, value]) => !ownHeaders.has(name) && (!isSecretName(name) || containsSecret(value, secret)),
  );
  const end = delimiterFor(body);
  return [
    ...(truncated ? ['# The body was too large to be kept whole; what follows is only its beginning.'] : []),
    `curl -sS -N -X ${shellWord(method)} ${word(url)} \\`,
    ...kept.map(([name, value]) => `  -H ${word(`${name}: ${value}`)} \\`),
    `  --data-binary @- <<'${end}'`,
    body,
    end,
    '',
  ].join('\n');
};

/** Default name of the environment variable for a provider's key. */
export const variableFor = (provider: string): string => {
  const plain = provider
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '');
  return `${/^\d|^$/.test(plain) ? `PROVIDER_${plain}`.replace(/_$/, '') : plain}_API_KEY`;
};

/** Headers that curl sets by itself, or that belong to one connection. */
const ownHeaders: ReadonlySet<string> = new Set([
  'host',
  'connection',
  'content-length',
  'content-encoding',
  'transfer-encoding',
  'accept-encoding',
  'keep-alive',
  'te',
  'trailer',
  'upgrade',
  'expect',
  'x-junctor-capture',
]);

const containsSecret = (value: string, secret: string | undefined): boolean =>
  secret !== undefined && secret !== '' && value.includes(secret);

/** Quotes a text as one shell word, with the secret replaced by the variable. */
const shellWord = (text: string, secret?: string, variable = ''): string =>
  (secret === undefined || secret === '' ? [text] : text.split(secret)).map(quote).join(`"$${variable}"`);

const quote = (text: string): string => (text === '' ? '' : `'${text.replaceAll("'", "'\\''")}'`);

/** A here-document delimiter that isn't a line of the body. */
const delimiterFor = (body: string): string => {
  const lines = new Set(body.split('\n'));
  let end = 'BODY';
  for (let count = 2; lines.has(end); count += 1) end = `BODY_${count}`;
  return end;
};
