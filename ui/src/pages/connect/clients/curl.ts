import { protocolPaths, protocols, protocolTitles } from '../../../api/protocols.ts';
import type { ClientGuide, Connection } from './client-guide.ts';
import { keyVariable, quoted, type Shell } from './shell.ts';

/** Any program that speaks HTTP. */
export const curl: ClientGuide = {
  name: 'curl',
  title: 'curl',
  protocol: 'messages',
  base: 'with /v1',
  snippets: (connection, shell) =>
    protocols.map((protocol) => ({
      label: protocolTitles[protocol],
      text: command(connection, shell, protocolPaths[protocol], {
        model: connection.model,
        stream: true,
        ...(protocol === 'messages' && { max_tokens: 256 }),
        ...(protocol === 'responses' ? { input: 'Hello!' } : { messages: [{ role: 'user', content: 'Hello!' }] }),
      }),
    })),
  notes: [
    'The header `x-api-key` takes the key just as well.',
    'With `-i`, curl also shows where the request went: `x-switchyard-route`.',
  ],
};

const command = ({ origin, wantsKey }: Connection, shell: Shell, path: string, body: object): string => {
  const { program, goesOn, key } = ways[shell];
  return [
    `${program} -N ${origin}${path}`,
    "  -H 'content-type: application/json'",
    ...(wantsKey ? [`  -H ${key}`] : []),
    `  -d ${quoted[shell](JSON.stringify(body))}`,
  ].join(` ${goesOn}\n`);
};

/** In older PowerShells, `curl` alone is another command. */
const ways: Readonly<Record<Shell, { readonly program: string; readonly goesOn: string; readonly key: string }>> = {
  bash: { program: 'curl', goesOn: '\\', key: `"authorization: Bearer $${keyVariable}"` },
  powershell: { program: 'curl.exe', goesOn: '`', key: `"authorization: Bearer $env:${keyVariable}"` },
};
