import { baseOf, type ClientGuide, limitsOf } from './client-guide.ts';
import { anyKey, assignments, keyVariable, shellLabel } from './shell.ts';

/** Zed. Source: its documentation, "LLM Providers", "OpenAI API Compatible". */
export const zed: ClientGuide = {
  name: 'zed',
  title: 'Zed',
  protocol: 'chat',
  snippets: (connection, shell) => [
    {
      label: 'settings.json',
      text: JSON.stringify(
        {
          language_models: {
            openai_compatible: {
              Junctor: {
                api_url: baseOf(connection),
                available_models: [
                  {
                    name: connection.model,
                    display_name: connection.model,
                    max_tokens: limitsOf(connection, connection.model).context ?? 128_000,
                    max_output_tokens: limitsOf(connection, connection.model).maxOutput ?? 16_000,
                    capabilities: { tools: true, images: true, parallel_tool_calls: true, prompt_cache_key: false },
                  },
                ],
              },
            },
          },
        },
        null,
        2,
      ),
    },
    ...(connection.wantsKey
      ? []
      : [{ label: shellLabel[shell], text: assignments(shell, false, [[keyVariable, anyKey]]) }]),
  ],
  notes: [
    `Zed reads the key from \`${keyVariable}\` (the provider’s name in upper case) or from its settings.`,
    'Zed takes token limits and capabilities from this file: those above are what the gateway knows of the model, or a guess.',
  ],
};
