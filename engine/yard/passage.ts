import type { ClientProtocol, UpstreamProtocol } from '../model/protocol.ts';

/** Whether a direction may be passed through as it came, and why, in words for users. */
export interface Passage {
  readonly open: boolean;
  readonly why: string;
}

/** Decides one direction: both sides speak the same format, and no stage has that half. */
export const decidePassage = (
  client: ClientProtocol,
  upstream: UpstreamProtocol,
  stages: readonly { readonly name: string }[],
): Passage => {
  if (client.wire !== upstream.wire) {
    return { open: false, why: `the client speaks ${client.wire}, the upstream ${upstream.wire}` };
  }
  if (stages.length > 0) return { open: false, why: `${stages.map(({ name }) => name).join(', ')} must see it` };
  return { open: true, why: `both sides speak ${client.wire}, and no stage must see it` };
};
