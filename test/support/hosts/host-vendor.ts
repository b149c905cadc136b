import type { IncomingHttpHeaders } from 'node:http';
import { writeChat } from '../vendors/chat.ts';
import { bearerKey, type ChatBody, understandChat } from '../vendors/chat-wire.ts';
import { scripted, thought } from '../vendors/script.ts';
import type { Vendor } from '../vendors/vendor.ts';
import { type Breach, type HostBody, wordsOf } from './check.ts';
import type { StrictHost } from './hosts.ts';

/** Everything in this body that the host refuses. */
export const breachesOf = (
  { checks }: StrictHost,
  body: HostBody,
  headers: IncomingHttpHeaders = {},
): readonly Breach[] => checks.flatMap((check) => check(body, headers));

/** A strict host as a simulated vendor. */
export const hostVendor = (host: StrictHost): Vendor<ChatBody & HostBody> => {
  const { baseUrl, refusesWith = 400, failure } = host;
  const path = `${new URL(baseUrl).pathname.replace(/\/$/, '')}/chat/completions`;
  return {
    paths: new RegExp(`^${path.replaceAll('.', '\\.')}$`),
    key: bearerKey,
    understand: understandChat,
    complaint: () => undefined,
    refusal(body, headers) {
      const breaches = breachesOf(host, body, headers);
      const [first] = breaches;
      const status = first?.status ?? refusesWith;
      return first && { status, body: failure(status, wordsOf(first), breaches) };
    },
    failure: (status, words) => ({
      status: status === 400 ? refusesWith : status,
      body: failure(status === 400 ? refusesWith : status, words),
    }),
    answer: (body, _url, script = scripted) => writeChat(script(understandChat(body)), body, host),
    payload: thought,
  };
};
