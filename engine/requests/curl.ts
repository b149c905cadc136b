import { isSecretName } from '../log/secret-names.ts';
import type { Headers } from '../model/protocol.ts';

/** A request as a command line is to make it once more. */
export interface CurlRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  /** Secrets in it are masked already. */
  readonly body: string;
  /** The body goes on, but no more of it was kept. */
  readonly truncated: boolean;
  /** The credential, and the environment variable that is to hold it; header fields of secret names without it are left out. */
  readonly secret: string | undefined;
  readonly variable: string;
}

/**
 * A command for POSIX shells. The credential stands in it as a variable, the body as a here-document, in which the shell reads
 * nothing.
 */
export const curlCommand = ({ method, url, headers, body, truncated, secret, variable }: CurlRequest): string => {
  const word = (text: string): string => shellWord(text, secret, variable);
  const kept = Object.entries(headers).filter(
    ([name, value]) => !ownHeaders.has(name) && (!isSecretName(name) || holds(value, secret)),
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

/** The name of the variable that holds a provider's key where the configuration names none. */
export const variableFor = (provider: string): string => {
  const plain = provider
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '');
  return `${/^\d|^$/.test(plain) ? `PROVIDER_${plain}`.replace(/_$/, '') : plain}_API_KEY`;
};

/** What curl sets by itself, or what held for that connection alone. */
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
  'x-switchyard-capture',
]);

const holds = (value: string, secret: string | undefined): boolean =>
  secret !== undefined && secret !== '' && value.includes(secret);

/** A text as one word of a shell's, with the variable in the secret's place. */
const shellWord = (text: string, secret?: string, variable = ''): string =>
  (secret === undefined || secret === '' ? [text] : text.split(secret)).map(quoted).join(`"$${variable}"`);

const quoted = (text: string): string => (text === '' ? '' : `'${text.replaceAll("'", "'\\''")}'`);

/** A line that the body doesn't have. */
const delimiterFor = (body: string): string => {
  const lines = new Set(body.split('\n'));
  let end = 'BODY';
  for (let count = 2; lines.has(end); count += 1) end = `BODY_${count}`;
  return end;
};
