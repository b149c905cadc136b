import { FaultError } from '../../../engine/model/fault.ts';
import type { JsonObject } from '../../../engine/model/json/json.ts';
import { type Loss, Losses } from '../../../engine/model/loss.ts';
import type { ClientProtocol, UpstreamProtocol } from '../../../engine/model/protocol.ts';
import type { Stage } from '../../../engine/model/transformer.ts';
import { ToolNames } from '../../../engine/model/wire/tool-names.ts';
import { clientProtocols } from '../../../protocols/index.ts';
import { responsesUpstream } from '../../../protocols/responses/index.ts';
import { defaultFormat, formats } from '../../../transformers/index.ts';

/** An upstream as one model of it is spoken to. */
export interface Target {
  readonly name: string;
  readonly model: string;
  readonly protocol: UpstreamProtocol;
}

/** Models whose restrictions differ; of other vendors, those of a first start. */
const models: Readonly<Record<string, readonly string[]>> = {
  anthropic: ['claude-opus-5-5', 'claude-sonnet-4-5'],
  openai: ['gpt-5.1', 'gpt-5.6', 'gpt-4.1', 'gpt-4o-search-preview'],
  deepseek: ['deepseek-flash', 'deepseek-chat'],
  openrouter: ['z-ai/glm-5'],
  groq: ['openai/gpt-oss-120b', 'groq/compound', 'llama-3.3-70b-versatile'],
  gemini: ['gemini-4-carbon', 'gemini-3-pro', 'gemini-2.5-flash', 'gemini-2.0-flash'],
};

function compatible(baseUrl: string, model: string): UpstreamProtocol {
  const format = formats.get(defaultFormat);
  if (!format) throw new Error('no default format');
  return format.protocol({ baseUrl: new URL(baseUrl), options: {}, model, relays: undefined });
}

/** Every upstream wire format, as every vendor speaks it. */
export const targets: readonly Target[] = [
  ...[...formats.values()].flatMap((format) =>
    (models[format.name] ?? format.firstStart?.models ?? []).map((model) => ({
      name: `${format.name} ${model}`,
      model,
      protocol: format.protocol({
        baseUrl: new URL(`https://${format.hosts[0]}/`),
        options: format.name === 'openai' ? { api: 'chat' } : {},
        model,
        relays: undefined,
      }),
    })),
  ),
  { name: 'look-alike', model: 'm', protocol: compatible('https://models.example/v1', 'm') },
  ...(
    [
      ['https://api.mistral.ai/v1', 'devstral-2'],
      ['https://api.moonshot.ai/v1', 'kimi-k3'],
      ['https://api.minimax.io/v1', 'MiniMax-M3'],
      ['https://dashscope.aliyuncs.com/compatible-mode/v1', 'qwen3.8-max'],
    ] as const
  ).map(([baseUrl, model]) => ({ name: `look-alike ${model}`, model, protocol: compatible(baseUrl, model) })),
  ...['gpt-6.2-sol', 'gpt-5.1', 'gpt-4.1'].map((model) => ({
    name: `responses ${model}`,
    model,
    protocol: responsesUpstream,
  })),
];

/** The client protocol of this wire format. */
export const clientOf = (wire: string): ClientProtocol => {
  const found = clientProtocols.find(({ protocol }) => protocol.wire === wire);
  if (!found) throw new Error(`no client protocol speaks ${wire}`);
  return found.protocol;
};

/** A client's body as it goes out to an upstream, and what it loses; or the fault that the client gets. */
export type Conversion = { readonly body: JsonObject; readonly losses: readonly Loss[] } | { readonly refused: string };

/** A client's body for an upstream, behind a stage. A body that the client's own protocol refuses throws. */
export const convert = (client: ClientProtocol, asked: JsonObject, target: Target, stage?: Stage): Conversion => {
  const decoded = { ...client.decodeRequest(asked), model: target.model };
  const losses = new Losses(client.wire, { names: client.fieldNames, body: asked }).at(target.name);
  try {
    const isOwn = target.protocol.wire === client.wire;
    const refused = isOwn ? undefined : client.ownWireField?.(asked);
    if (refused !== undefined) return { refused: refused.path };
    const expressed = (isOwn ? undefined : client.forOtherWires?.(decoded, losses)) ?? decoded;
    const request = stage?.request?.(expressed, losses) ?? expressed;
    const context = { names: new ToolNames(), losses, replyIsRelayed: false, client: client.wire };
    const body: JsonObject = JSON.parse(JSON.stringify(target.protocol.encodeRequest(request, context)));
    return { body, losses: losses.list };
  } catch (error) {
    if (error instanceof FaultError) return { refused: error.fault.param ?? error.message };
    throw error;
  }
};
