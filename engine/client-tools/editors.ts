import { type Access, type ClientTool, clientKeyVariable, keyAs, type OfferedModel } from './tool.ts';

/** The window of a model of which none is known, in tokens: the editors need one. */
const usualWindow = 128_000;

/** Zed forms the name from that of the provider; Cline gets it from its command. */
const variables = ({ apiKey }: Access) => ({ [clientKeyVariable]: apiKey });

const ofForms = [
  'The editor stores the key. It is the gateway’s key, not a provider’s.',
  'Set the context window: the form cannot detect it.',
];

const formOf = (access: Access): string =>
  [
    'API Provider   OpenAI Compatible',
    `Base URL       ${access.baseUrl}/v1`,
    `API Key        ${keyAs(access, `the value of $${clientKeyVariable}`)}`,
    `Model ID       ${access.model}`,
    `Context Window ${access.context ?? usualWindow}`,
  ].join('\n');

/** Cline, in the terminal or an editor. Source: its documentation, "OpenAI Compatible"; tried with Cline CLI 3.0.65. */
export const cline: ClientTool = {
  name: 'cline',
  title: 'Cline',
  protocol: 'chat',
  commands: ['cline'],
  setUpByHand: true,
  variables,
  settings: (access) => [
    {
      label: 'a shell, once',
      text: [
        `cline auth -p openai-compatible -k "$${clientKeyVariable}" -m ${access.model} -b ${access.baseUrl}/v1`,
        `cline -P openai-compatible -m ${access.model}`,
      ].join('\n'),
    },
    { label: "the editor's Settings > API Configuration, instead", text: formOf(access) },
  ],
  notes: ofForms,
};

/** Kilo Code. Source: its documentation, "OpenAI Compatible"; not tried. */
export const kilo: ClientTool = {
  name: 'kilo',
  title: 'Kilo Code',
  protocol: 'chat',
  commands: [],
  setUpByHand: true,
  settings: (access) => [{ label: "the editor's Settings > Providers", text: formOf(access) }],
  notes: ofForms,
};

/** Continue. Source: its documentation, "config.yaml reference"; not tried. JSON strings are valid YAML. */
export const continueDev: ClientTool = {
  name: 'continue',
  title: 'Continue',
  protocol: 'chat',
  commands: [],
  setUpByHand: true,
  settings: (access) => [
    {
      label: '~/.continue/config.yaml',
      text: `models:
  - name: Junctor
    provider: openai
    model: ${JSON.stringify(access.model)}
    apiBase: ${JSON.stringify(`${access.baseUrl}/v1`)}
    apiKey: ${keyAs(access, `\${{ secrets.${clientKeyVariable} }}`)}
    roles: [chat, edit, apply]
    requestOptions:
      timeout: 600000`,
    },
  ],
  notes: [
    `Continue reads secrets from \`~/.continue/.env\`: add a line \`${clientKeyVariable}=…\` there, or write the key itself into this file.`,
  ],
};

/** Zed. Source: its documentation, "LLM Providers", "OpenAI API Compatible"; not tried. */
export const zed: ClientTool = {
  name: 'zed',
  title: 'Zed',
  protocol: 'chat',
  commands: ['zed', 'zeditor'],
  setUpByHand: true,
  variables,
  settings: ({ baseUrl, model, models }) => [
    {
      label: "Zed's settings.json",
      text: JSON.stringify(
        {
          language_models: {
            openai_compatible: {
              Junctor: {
                api_url: `${baseUrl}/v1`,
                available_models: models.filter(({ name }) => name === model || name.includes(',')).map(zedModel),
              },
            },
          },
        },
        null,
        2,
      ),
    },
  ],
  notes: [
    `Zed reads the key from \`${clientKeyVariable}\` (the provider’s name in upper case) or from its settings.`,
    'Zed takes token limits and capabilities from this file: those above are what the gateway knows of the models, or a guess.',
  ],
};

const zedModel = ({ name, title, context = usualWindow, maxOutput, images = true }: OfferedModel) => ({
  name,
  display_name: title,
  max_tokens: context,
  ...(maxOutput !== undefined && { max_output_tokens: maxOutput }),
  capabilities: { tools: true, images, parallel_tool_calls: true, prompt_cache_key: false },
});
