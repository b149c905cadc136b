import { protocolPaths, protocols, protocolTitles } from '../../../api/protocols.ts';
import type { ClientGuide, Connection } from './client-guide.ts';
import { keyVariable, quoted, type Shell } from './shell.ts';

/** Any program that speaks HTTP. */
export const curl: ClientGuide = {
  name: 'curl',
  title: 'curl',
  protocol: 'messages',
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
    'The key can also be sent in the `x-api-key` header.',
    'With `-i`, curl also prints `x-junctor-route`, which names the provider and model.',
  ],
};

const command = ({ origin, wantsKey }: Connection, shell: Shell, path: string, body: object): string => {
  const { program, continuation, key } = ways[shell];
  return [
    `${program} -N ${origin}${path}`,
    "  -H 'content-type: application/json'",
    ...(wantsKey ? [`  -H ${key}`] : []),
    `  -d ${quoted[shell](JSON.stringify(body))}`,
  ].join(` ${continuation}\n`);
};

/** In Windows PowerShell, `curl` is an alias of another command. */
const ways: Readonly<Record<Shell, { readonly program: string; readonly continuation: string; readonly key: string }>> =
  {
    bash: { program: 'curl', continuation: '\\', key: `"authorization: Bearer $${keyVariable}"` },
    powershell: { program: 'curl.exe', continuation: '`', key: `"authorization: Bearer $env:${keyVariable}"` },
  };
