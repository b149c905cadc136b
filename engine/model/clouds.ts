import { isJsonObject, parseJson } from './json/json.ts';

/** A cloud whose host serves several vendors' models, each in its vendor's form below paths of the cloud's own. */
export type CloudName = 'vertex' | 'bedrock';

/** The cloud of a base URL's host. */
interface Cloud {
  readonly name: CloudName;
  /** As in the host name; `undefined`: the cloud chooses, or the host is a private one. */
  readonly region: string | undefined;
}

/**
 * The cloud of a host; `undefined`: none. Sources: Google Cloud documentation, "Agent Platform locations"; AWS General Reference, "Amazon
 * Bedrock endpoints and quotas", as of November 2026.
 */
export const cloudAt = ({ hostname }: Pick<URL, 'hostname'>): Cloud | undefined =>
  googleHost(hostname) ?? amazonHost(hostname);

/** `aiplatform.googleapis.com`, `{region}-aiplatform.googleapis.com`, `aiplatform.{us|eu}.rep.googleapis.com`. */
const googleHost = (hostname: string): Cloud | undefined => {
  const zone = ['.googleapis.com', '.rep.googleapis.com'].findLast((end) => hostname.endsWith(end));
  if (zone === undefined) return undefined;
  const [service = '', group, ...more] = hostname.slice(0, -zone.length).split('.');
  if (more.length > 0 || (group !== undefined) !== (zone === '.rep.googleapis.com')) return undefined;
  if (service === 'aiplatform') return { name: 'vertex', region: group };
  const end = '-aiplatform';
  return group === undefined && service.endsWith(end)
    ? { name: 'vertex', region: service.slice(0, -end.length) }
    : undefined;
};

const amazonServices = ['bedrock-runtime', 'bedrock-runtime-fips', 'bedrock-mantle'];
const amazonZones = ['.amazonaws.com', '.amazonaws.com.cn', '.api.aws'];

/** `bedrock-runtime.{region}.amazonaws.com`, also as a private endpoint below a name of its own, and `bedrock-mantle.{region}.api.aws`. */
const amazonHost = (hostname: string): Cloud | undefined => {
  if (!amazonZones.some((end) => hostname.endsWith(end))) return undefined;
  const labels = hostname.split('.');
  const at = labels.findIndex((label) => amazonServices.includes(label));
  return at < 0 ? undefined : { name: 'bedrock', region: labels[at + 1] };
};

/** A key for requests that are signed. */
export interface AwsKey {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Only of keys that end. */
  readonly sessionToken?: string;
}

/**
 * The key for signatures in a provider's key: `id:secret` or `id:secret:token`, or the JSON that programs print for the cloud's own tools;
 * `undefined`: the key is one to be sent. Source: AWS SDKs and Tools reference, "Process credential provider".
 */
export const awsKeyIn = (apiKey: string): AwsKey | undefined => {
  if (apiKey.startsWith('{')) {
    const printed = parseJson(apiKey);
    return isJsonObject(printed)
      ? awsKeyOf(printed.AccessKeyId, printed.SecretAccessKey, printed.SessionToken)
      : undefined;
  }
  const [id, secret, token, ...more] = apiKey.split(':', 4);
  return more.length === 0 && isAccessKeyId(id) ? awsKeyOf(id, secret, token) : undefined;
};

/** The secrets of a provider's key: all of it, and the parts of one for signatures. */
export const secretsOfKey = (apiKey: string): readonly string[] => {
  const key = awsKeyIn(apiKey);
  return key ? [apiKey, key.secretAccessKey, ...(key.sessionToken === undefined ? [] : [key.sessionToken])] : [apiKey];
};

const isAccessKeyId = (id: string | undefined): boolean => id !== undefined && /^A[A-Z0-9]{15,127}$/.test(id);

const awsKeyOf = (id: unknown, secret: unknown, token: unknown): AwsKey | undefined =>
  typeof id === 'string' && typeof secret === 'string' && id !== '' && secret !== ''
    ? {
        accessKeyId: id,
        secretAccessKey: secret,
        ...(typeof token === 'string' && token !== '' && { sessionToken: token }),
      }
    : undefined;
