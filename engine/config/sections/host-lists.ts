import { memberPath } from '../../model/schema.ts';
import type { Diagnostics } from '../diagnostics.ts';

/** Reports entries of `ALLOWED_HOSTS` that no `Host` header can match. */
export const checkHosts = (hosts: readonly string[], findings: Diagnostics): void => {
  hosts.forEach((text, index) => {
    if (text === '' || isHost(text)) return;
    const hint = text.includes('://') ? 'origins of web pages belong in ALLOWED_ORIGINS' : 'IPv6 addresses in brackets';
    findings.fault(
      memberPath('ALLOWED_HOSTS', index),
      `must be a host name or an address, with or without a port; ${hint}`,
    );
  });
};

const isHost = (text: string): boolean =>
  /^(?:\[[0-9a-f:.]{2,45}\]|[a-z0-9._-]{1,254})(?::\d{1,5})?$/i.test(text) && URL.canParse(`http://${text}`);

/** Reads `ALLOWED_ORIGINS`, as browsers write origins. Reports entries that no `Origin` header can match; blank ones are left out. */
export const readOrigins = (origins: readonly string[], findings: Diagnostics): readonly string[] =>
  origins.flatMap((text, index) => {
    if (text === '') return [];
    const origin = originOf(text);
    if (origin === undefined) {
      findings.fault(
        memberPath('ALLOWED_ORIGINS', index),
        'must be the origin of a web page or an app, without a path, such as https://app.example or app://notes',
      );
    }
    return origin ?? [];
  });

/** Source: HTML standard, "ASCII serialization of an origin"; apps with schemes of their own send the scheme and the host. */
const originOf = (text: string): string | undefined => {
  if (!/^[a-z][a-z0-9+.-]{0,40}:\/\/[^\s/?#@*\\]{1,254}$/i.test(text) || !URL.canParse(text)) return undefined;
  return /^https?:/i.test(text) ? new URL(text).origin : text.toLowerCase();
};
