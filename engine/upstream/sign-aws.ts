import { createHash, createHmac, type Hmac } from 'node:crypto';
import { BytePieces, type CallBody } from '../model/call-body.ts';
import { type AwsKey, cloudAt } from '../model/clouds.ts';
import { BoundedMap } from '../runtime/memoize.ts';

/** A call that is to be signed. */
interface Unsigned {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: CallBody;
}

/** Clock offsets of servers against this machine, in milliseconds, by host. Bounded, since configurations may change without end. */
const offsets = new BoundedMap<string, number>(100);

/** A server allows five minutes. A smaller correction would be no reason to try again. */
const leastCorrectionMs = 60_000;

/**
 * Notes the time of a server that has refused a signature; whether it differs so much that another attempt may be accepted. `date`: its
 * `date` header.
 */
export const correctClock = ({ host }: URL, date: string | undefined, nowMs: number): boolean => {
  const offset = date === undefined ? Number.NaN : Date.parse(date) - nowMs;
  if (Number.isNaN(offset) || Math.abs(offset - (offsets.get(host) ?? 0)) < leastCorrectionMs) return false;
  offsets.set(host, offset);
  return true;
};

/** Fallback if the host doesn't contain the region. */
const defaultRegion = 'us-east-1';

/**
 * The headers with a signature of the call, by Signature Version 4. `region`: absent, as in the host. Source: AWS documentation, "Create a
 * signed AWS API request".
 */
export const signed = (
  { url, headers, body }: Unsigned,
  key: AwsKey,
  nowMs: number,
  region = cloudAt(url)?.region ?? defaultRegion,
): Readonly<Record<string, string>> => {
  const time = new Date(nowMs + (offsets.get(url.host) ?? 0)).toISOString().replaceAll(/[-:]|\.\d{3}/g, '');
  const day = time.slice(0, 8);
  const service = url.hostname.includes('bedrock-mantle') ? 'bedrock-mantle' : 'bedrock';
  const digest = digestOf(body);
  const added = {
    'x-amz-content-sha256': digest,
    'x-amz-date': time,
    ...(key.sessionToken !== undefined && { 'x-amz-security-token': key.sessionToken }),
  };
  // Only these: whatever is between the gateway and the cloud may change others.
  const own = { ...added, host: url.host, 'content-type': headers['content-type'] ?? '' };
  const names = Object.entries(own)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => [name, value.trim()] as const)
    .sort(([one], [other]) => (one < other ? -1 : 1));
  const signedNames = names.map(([name]) => name).join(';');
  const request = [
    'POST',
    url.pathname.split('/').map(escaped).join('/'),
    queryOf(url),
    ...names.map(([name, value]) => `${name}:${value}`),
    '',
    signedNames,
    digest,
  ].join('\n');
  const scope = `${day}/${region}/${service}/aws4_request`;
  const text = `AWS4-HMAC-SHA256\n${time}\n${scope}\n${createHash('sha256').update(request).digest('hex')}`;
  const secret = ['aws4_request', service, region, day].reduceRight<string | Buffer>(
    (before, part) => hmac(before, part).digest(),
    `AWS4${key.secretAccessKey}`,
  );
  const signature = hmac(secret, text).digest('hex');
  return {
    ...headers,
    ...added,
    authorization: `AWS4-HMAC-SHA256 Credential=${key.accessKeyId}/${scope}, SignedHeaders=${signedNames}, Signature=${signature}`,
  };
};

const hmac = (key: string | Buffer, text: string): Hmac => createHmac('sha256', key).update(text);

const digestOf = (body: CallBody): string => {
  const hash = createHash('sha256');
  for (const piece of body instanceof BytePieces ? body.pieces : [body]) hash.update(piece);
  return hash.digest('hex');
};

/** As in a path or query that is signed: all but unreserved characters. */
const escaped = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);

const queryOf = ({ searchParams }: URL): string =>
  [...searchParams]
    .map(([name, value]) => `${escaped(name)}=${escaped(value)}`)
    .sort()
    .join('&');
