import { collectDefaultMetrics, Registry } from 'prom-client';

let registry: Registry | undefined;

/**
 * What there is to say of this process: CPU, memory, event loop, garbage collection. One for all services of a process, since
 * the watching that it begins when first asked for never ends.
 */
export const processMetrics = (): Registry => {
  if (!registry) {
    registry = new Registry();
    collectDefaultMetrics({ register: registry });
  }
  return registry;
};
