import type { ClientWire } from '../client-wires.ts';

/** Service tiers, named as in OpenAI's reference; `batch` is Anthropic's. */
export type ServiceTier = 'auto' | 'default' | 'flex' | 'scale' | 'priority' | 'batch';

/**
 * All vendors' names of tiers, in requests and replies. Sources: Anthropic API reference, "Service tiers"; OpenAI, Gemini and
 * Groq API references, `service_tier`.
 */
const tiers: ReadonlyMap<string, ServiceTier> = new Map([
  ['auto', 'auto'],
  ['default', 'default'],
  ['standard', 'default'],
  ['standard_only', 'default'],
  ['on_demand', 'default'],
  ['flex', 'flex'],
  ['scale', 'scale'],
  ['priority', 'priority'],
  ['performance', 'priority'],
  ['batch', 'batch'],
]);

const openAiNames = { auto: 'auto', default: 'default', flex: 'flex', scale: 'scale', priority: 'priority' } as const;

/** The tier names that each client protocol allows in a reply. Typed clients reject any other name. */
const replyNames: Readonly<Record<ClientWire, Readonly<Partial<Record<ServiceTier, string>>>>> = {
  messages: { default: 'standard', priority: 'priority', batch: 'batch' },
  chat: openAiNames,
  responses: openAiNames,
};

/** The tier of a vendor's name; `undefined` for an unknown name. */
export const tierOf = (name: string | undefined): ServiceTier | undefined =>
  name === undefined ? undefined : tiers.get(name.toLowerCase());

/** The client protocol's name of a tier; `undefined` if it has none. */
export const replyTier = (client: ClientWire, name: string | undefined): string | undefined => {
  const tier = tierOf(name);
  return tier && replyNames[client][tier];
};
