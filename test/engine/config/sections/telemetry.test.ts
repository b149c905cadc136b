import test from 'ava';
import { formatFinding } from '../../../../engine/config/diagnostics.ts';
import type { Environment } from '../../../../engine/config/env.ts';
import { telemetrySettings } from '../../../../engine/config/sections/telemetry.ts';
import { validateConfig } from '../../../../engine/config/validate.ts';
import type { JsonObject } from '../../../../engine/model/json/json.ts';
import { configOf } from '../../../support/gateway-of.ts';

const endpoint = 'http://env.example:4318/base';

const settingsOf = (telemetry: JsonObject | undefined, env: Environment) => {
  const lines: string[] = [];
  const { telemetry: configured } = configOf(telemetry === undefined ? {} : { TELEMETRY: telemetry });
  const settings = telemetrySettings(configured, env, (line) => lines.push(line));
  return { lines, settings: settings && { ...settings, endpoint: settings.endpoint.href } };
};

test('nothing is exported unless the configuration or the environment asks for it', (t) => {
  t.is(settingsOf(undefined, {}).settings, undefined);
  t.is(settingsOf(undefined, { OTEL_SERVICE_NAME: 'x', OTEL_EXPORTER_OTLP_HEADERS: 'a=b' }).settings, undefined);
  t.is(settingsOf({}, { OTEL_SDK_DISABLED: 'TRUE' }).settings, undefined);
  t.deepEqual(settingsOf({}, {}).settings, {
    endpoint: 'http://localhost:4318/',
    headers: {},
    service: 'junctor',
    traces: true,
    metrics: true,
    ratio: 1,
    resource: {},
  });
});

test("the configuration has precedence, and the environment's headers go to its endpoint alone", (t) => {
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Bearer%20x,bad name=1,b=%zz,=c,d',
    OTEL_SERVICE_NAME: 'named',
    OTEL_RESOURCE_ATTRIBUTES: 'a=1, b = 2 ',
  };
  t.like(settingsOf(undefined, env).settings, {
    endpoint,
    headers: { authorization: 'Bearer x', b: '%zz' },
    service: 'named',
    resource: { a: '1', b: '2' },
  });
  const own = {
    endpoint: 'https://own.example',
    headers: { 'X-Key': 'k' },
    service: 'own',
    metrics: false,
    ratio: 0.5,
  };
  t.deepEqual(settingsOf(own, env).settings, {
    endpoint: 'https://own.example/',
    headers: { 'x-key': 'k' },
    service: 'own',
    traces: true,
    metrics: false,
    ratio: 0.5,
    resource: { a: '1', b: '2' },
  });
});

test('an environment that cannot be used is said, and nothing is exported', (t) => {
  for (const env of [
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://user:secret@env.example' },
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'env.example:4317' },
    { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
  ]) {
    const { lines, settings } = settingsOf(undefined, env);
    t.is(settings, undefined);
    t.regex(lines.join(), /^OTEL_EXPORTER_OTLP_\w+ (?:is|isn't) .*no telemetry is exported$/);
    t.notRegex(lines.join(), /secret/);
  }
});

for (const [title, telemetry, fault] of [
  ['an endpoint that is no URL', { endpoint: 'collector' }, 'TELEMETRY.endpoint'],
  ['a password in the endpoint', { endpoint: 'http://a:b@collector.example' }, 'TELEMETRY.endpoint'],
  ['a header that cannot be sent', { headers: { 'a b': 'c' } }, 'TELEMETRY.headers.a b'],
  ['a ratio above 1', { ratio: 1.5 }, 'TELEMETRY.ratio'],
] as const) {
  test(`refused: ${title}`, (t) => {
    const result = validateConfig({ TELEMETRY: telemetry, Providers: [] }, {});
    const faults = 'faults' in result ? result.faults.map(formatFinding) : [];
    t.true(
      faults.some((line) => line.startsWith(fault)),
      faults.join('\n'),
    );
  });
}
