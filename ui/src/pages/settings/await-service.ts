import { gatewayUrl } from '../../api/gateway-url.ts';

const everyMs = 400;
const mostMs = 20_000;

/** Polls until the gateway is healthy. Resolves to false after 20 seconds. */
export const awaitService = async (): Promise<boolean> => {
  for (const until = performance.now() + mostMs; performance.now() < until; ) {
    const healthy = await fetch(`${gatewayUrl()}/health`, {
      cache: 'no-store',
      signal: AbortSignal.timeout(2_000),
    }).then(
      ({ ok }) => ok,
      () => false,
    );
    if (healthy) return true;
    await new Promise((resolve) => window.setTimeout(resolve, everyMs));
  }
  return false;
};
