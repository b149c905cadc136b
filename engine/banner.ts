import type { Config } from './config/config.ts';

/** What there is to say once the service runs. */
export interface Started {
  /** `http://127.0.0.1:3456`. */
  readonly baseUrl: string;
  readonly config: Config;
  /** The configuration's file; none when the service runs without. */
  readonly file: string | undefined;
  readonly demo: boolean;
}

/** The lines shown at the start: where the service is, what it serves, and a command to try. */
export const banner = ({ baseUrl, config, file, demo }: Started): string => {
  const providers = config.providers.map(({ name, models }) => `${name} (${models.join(', ')})`);
  const body = { model: 'any', max_tokens: 256, stream: true, messages: [{ role: 'user', content: 'Hello!' }] };
  const command = [
    `curl -N ${baseUrl}/v1/messages`,
    ...(config.apiKey === undefined ? [] : [`-H 'x-api-key: YOUR_KEY'`]),
    `-H 'content-type: application/json'`,
    `-d '${JSON.stringify(body)}'`,
  ];
  return [
    `Switchyard listens on ${baseUrl}`,
    `  configuration  ${file ?? 'none yet: write config.json, or start with a vendor’s API key in the environment'}`,
    `  providers      ${providers.join('; ') || 'none'}`,
    `  default        ${config.router.default ?? 'none'}`,
    demo ? '  The embedded provider "demo" answers without any key. Try it:' : '  Try it:',
    `    ${command.join(' \\\n      ')}`,
    '',
  ].join('\n');
};
