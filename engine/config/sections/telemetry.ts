import { memberPath } from '../../model/schema.ts';
import type { TelemetryConfig } from '../config.ts';
import type { Diagnostics } from '../diagnostics.ts';
import type { Environment, UnsetReference } from '../env.ts';
import type { TelemetryFile } from '../schema.ts';

/** What is exported, where, and under which service name. */
export interface TelemetrySettings extends Omit<TelemetryConfig, 'endpoint' | 'service'> {
  readonly endpoint: URL;
  readonly service: string;
  /** Further attributes of the resource. */
  readonly resource: Readonly<Record<string, string>>;
}

/**
 * Reads `TELEMETRY`, which matches its schema. `undefined` if the variable of its endpoint isn't set: another collector must not
 * get what is meant for that one.
 */
export const readTelemetry = (
  { endpoint, headers, service, traces, metrics, ratio }: TelemetryFile,
  unset: readonly UnsetReference[],
  findings: Diagnostics,
): TelemetryConfig | undefined => {
  const missing = new Set(unset.map(({ path }) => path));
  if (missing.has('TELEMETRY.endpoint')) return undefined;
  const url = endpoint === undefined ? undefined : collectorUrl(endpoint);
  if (endpoint !== undefined && !url) {
    findings.fault('TELEMETRY.endpoint', 'must be an http:// or https:// URL without user and password');
  }
  const given = Object.entries(headers ?? {}).filter(([name, value]) => {
    const at = memberPath('TELEMETRY.headers', name);
    if (missing.has(at)) return false;
    if (isHeader(name, value)) return true;
    findings.fault(at, 'must be a header that can be sent');
    return false;
  });
  return {
    endpoint: url,
    headers: Object.fromEntries(given.map(([name, value]) => [name.toLowerCase(), value.trim()])),
    service: service?.trim() || undefined,
    traces,
    metrics,
    ratio,
  };
};

/** Source: OpenTelemetry specification, "OTLP Exporter", default of OTEL_EXPORTER_OTLP_ENDPOINT for HTTP. */
const defaultEndpoint = 'http://localhost:4318';

/**
 * Completes `TELEMETRY` from OpenTelemetry's own environment variables. `undefined`: nothing is exported. The environment's headers
 * go only where its endpoint is, since they may hold a credential.
 */
export const telemetrySettings = (
  configured: TelemetryConfig | undefined,
  env: Environment,
  warn: (line: string) => void,
): TelemetrySettings | undefined => {
  const fromEnv = env.OTEL_EXPORTER_OTLP_ENDPOINT?.trim();
  if (env.OTEL_SDK_DISABLED?.trim().toLowerCase() === 'true' || (!configured && !fromEnv)) return undefined;
  const endpoint = configured?.endpoint ?? collectorUrl(fromEnv || defaultEndpoint);
  if (!endpoint) {
    warn(
      "OTEL_EXPORTER_OTLP_ENDPOINT isn't an http:// or https:// URL without user and password: no telemetry is exported",
    );
    return undefined;
  }
  if (!configured?.endpoint && env.OTEL_EXPORTER_OTLP_PROTOCOL?.trim() === 'grpc') {
    warn('OTEL_EXPORTER_OTLP_PROTOCOL is grpc, which is not supported: no telemetry is exported');
    return undefined;
  }
  const envHeaders = configured?.endpoint
    ? []
    : pairsOf(env.OTEL_EXPORTER_OTLP_HEADERS).flatMap(([name, value]) =>
        isHeader(name, value) ? [[name.toLowerCase(), value] as const] : [],
      );
  return {
    endpoint,
    headers: { ...Object.fromEntries(envHeaders), ...configured?.headers },
    service: configured?.service ?? (env.OTEL_SERVICE_NAME?.trim() || 'junctor'),
    traces: configured?.traces ?? true,
    metrics: configured?.metrics ?? true,
    ratio: configured?.ratio ?? 1,
    resource: Object.fromEntries(pairsOf(env.OTEL_RESOURCE_ATTRIBUTES).slice(0, maxAttributes)),
  };
};

const maxAttributes = 64;

const collectorUrl = (text: string): URL | undefined => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
  return isPlain ? url : undefined;
};

const isHeader = (name: string, value: string): boolean =>
  /^[\w!#$%&'*+.^`|~-]+$/.test(name) && /^[\t\x20-\x7e]*$/.test(value);

/** `a=1,b=%20` as pairs; other items are skipped. Source: W3C Baggage, which OpenTelemetry's variables follow. */
const pairsOf = (text: string | undefined): readonly (readonly [name: string, value: string])[] =>
  (text ?? '').split(',').flatMap((part) => {
    const at = part.indexOf('=');
    const name = part.slice(0, Math.max(0, at)).trim();
    if (name === '') return [];
    const value = part.slice(at + 1).trim();
    try {
      return [[name, decodeURIComponent(value)] as const];
    } catch {
      return [[name, value] as const];
    }
  });
