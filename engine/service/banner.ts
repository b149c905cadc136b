import type { Config } from '../config/config.ts';
import { isLoopback } from '../config/sections/service-settings.ts';
import type { HttpServerFacts } from '../http/choose-server.ts';
import { type ListenAddress, outerUrlOf } from './workers/listen-address.ts';

/** Facts for the start-up banner. */
interface BannerFacts {
  /** `http://127.0.0.1:3456`. */
  readonly baseUrl: string;
  readonly config: Config;
  /** Path of the configuration file, which may not exist yet. */
  readonly file: string;
  /** Only the built-in demo provider is configured, and there is no file. */
  readonly demo: boolean;
  readonly http: HttpServerFacts;
  /** Its address. */
  readonly place: ListenAddress;
}

/** Start-up banner: addresses, configuration file, providers, and a command to try. */
export const banner = ({ baseUrl, config, file, demo, http, place }: BannerFacts): string => {
  const providers = config.providers.map(({ name, models }) => `${name} (${models.join(', ')})`);
  const body = { model: 'any', max_tokens: 256, stream: true, messages: [{ role: 'user', content: 'Hello!' }] };
  const command = [
    `curl -N ${baseUrl}/v1/messages`,
    ...(config.apiKey === undefined ? [] : [`-H 'x-api-key: YOUR_KEY'`]),
    `-H 'content-type: application/json'`,
    `-d '${JSON.stringify(body)}'`,
  ];
  return [
    `Junctor listens on ${baseUrl}`,
    ...(place.addresses.every(isLoopback)
      ? []
      : [`  other machines ${outerUrlOf(place)} (by other host names: list them in ALLOWED_HOSTS)`]),
    `  web interface  ${baseUrl}/ui`,
    `  configuration  ${file}${demo ? ' (not there yet: add a provider in the web interface, or write the file)' : ''}`,
    `  providers      ${providers.join('; ') || 'none'}`,
    `  default        ${config.router.default ?? 'none'}`,
    `  HTTP server    ${http.server === 'uws' ? 'uWebSockets.js' : 'node:http'} (${http.reason})`,
    demo ? '  The embedded provider "demo" answers without any key. Try it:' : '  Try it:',
    `    ${command.join(' \\\n      ')}`,
    '',
  ].join('\n');
};
