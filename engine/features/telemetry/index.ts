import { telemetrySettings } from '../../config/sections/telemetry.ts';
import type { FeatureFolder, FeatureServices } from '../../feature.ts';
import { version } from '../../paths.ts';
import { createUpstreams } from '../../upstream/create-upstreams.ts';

/** The settings of the start. */
const settingsOf = ({ startConfig, env }: FeatureServices, warn: (line: string) => void = () => undefined) =>
  telemetrySettings(startConfig.telemetry, env, warn);

/** Exports traces and metrics to a collector. */
export const telemetry: FeatureFolder = {
  configured: (_, services) => settingsOf(services) !== undefined,
  async open(services) {
    const settings = settingsOf(services, (line) => services.logs.app.warn(line));
    if (!settings) return {};
    const { openTelemetry, telemetryFeature } = await import('./telemetry.ts');
    const upstreams = createUpstreams({ ...collectorBounds, environment: services.env });
    return telemetryFeature(openTelemetry({ settings, upstreams, version, log: services.logs.app }));
  },
};

/** Timeouts of connections to a collector. The exporter's own deadline for an answer is shorter. */
const collectorBounds = {
  connectMs: 5_000,
  firstByteMs: 20_000,
  idleMs: 20_000,
  callMs: 0,
  connectionsPerProvider: 2,
  queuePerProvider: 2,
  queueMs: 20_000,
  decompressedReplyBytes: 1 << 20,
};
