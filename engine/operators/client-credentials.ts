import type { Config } from '../config/config.ts';
import type { Routed } from '../exchange.ts';
import { gatewayKeyHeader, keyCheck } from '../http/access/access.ts';
import { fail } from '../model/fault.ts';

/** Headers in which clients send credentials. */
const credentialHeaders = ['authorization', 'x-api-key'] as const;

/**
 * Replaces the credentials among a call's headers by those that the client sent for the provider, unchanged. A key of the gateway
 * isn't one of them. Throws `unauthorized` if there are none.
 */
export const clientCredentials = ({ apiKey, clients }: Pick<Config, 'apiKey' | 'clients'>) => {
  const ownerOf = apiKey !== undefined || clients ? keyCheck({ apiKey, clients }) : () => undefined;
  // Values of a repeated header are joined: one of them may be a key of the gateway.
  const isOwn = (name: string, value: string): boolean =>
    value.trim() !== '' && !value.includes(', ') && ownerOf([name, value]) === undefined;
  return (
    headers: Readonly<Record<string, string>>,
    { incoming, resolution }: Pick<Routed, 'incoming' | 'resolution'>,
  ): Readonly<Record<string, string>> => {
    const { 'x-api-key': _, authorization: __, ...others } = headers;
    const call: Record<string, string> = { ...others };
    let isGiven = false;
    for (const name of credentialHeaders) {
      const value = incoming.header(name);
      if (value === undefined || !isOwn(name, value)) continue;
      call[name] = value;
      isGiven = true;
    }
    if (isGiven) return call;
    const gateways = apiKey !== undefined || clients ? `, and the gateway's key as "${gatewayKeyHeader}"` : '';
    return fail(
      'unauthorized',
      `The provider ${resolution.provider.name} takes the client's own credentials: send them as "Authorization" or "x-api-key"${gateways}.`,
    );
  };
};
