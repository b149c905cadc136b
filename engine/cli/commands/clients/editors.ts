import { type Client, type OfferedModel, routedName } from './client.ts';

/** The window of a model of which none is known, in tokens: both editors need one. */
const usualWindow = 128_000;

/** Cline, in the terminal or an editor. Source: its documentation, "OpenAI Compatible"; tried with Cline CLI 3.0.65. */
export const cline: Client = {
  name: 'cline',
  about: 'Cline',
  commands: ['cline'],
  setUpByHand: true,
  variables: ({ apiKey }) => ({ JUNCTOR_API_KEY: apiKey }),
  block: ({ baseUrl, context = usualWindow }) => ({
    file: 'a shell, once',
    text: [
      `cline auth -p openai-compatible -k "$JUNCTOR_API_KEY" -m ${routedName} -b ${baseUrl}/v1`,
      `cline -P openai-compatible -m ${routedName}`,
      '',
      "or in the editor's settings: API Provider OpenAI Compatible,",
      `Base URL ${baseUrl}/v1, Model ID ${routedName}, Context Window ${context}`,
    ].join('\n'),
  }),
};

/** Zed. Source: its documentation, "LLM Providers", "OpenAI API Compatible"; not tried. */
export const zed: Client = {
  name: 'zed',
  about: 'Zed',
  commands: ['zed', 'zeditor'],
  setUpByHand: true,
  // Zed forms the name from that of the provider.
  variables: ({ apiKey }) => ({ JUNCTOR_API_KEY: apiKey }),
  block: ({ baseUrl, models }) => ({
    file: "Zed's settings.json",
    text: JSON.stringify(
      {
        language_models: {
          openai_compatible: {
            Junctor: {
              api_url: `${baseUrl}/v1`,
              available_models: models.filter(({ name }) => name === routedName || name.includes(',')).map(zedModel),
            },
          },
        },
      },
      null,
      2,
    ),
  }),
};

const zedModel = ({ name, title, context = usualWindow, maxOutput, images = true }: OfferedModel) => ({
  name,
  display_name: title,
  max_tokens: context,
  ...(maxOutput !== undefined && { max_output_tokens: maxOutput }),
  capabilities: { tools: true, images, parallel_tool_calls: true, prompt_cache_key: false },
});
