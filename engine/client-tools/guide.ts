import { shellLines } from './shell.ts';
import { type Access, type ClientTool, clientKeyVariable, keyReference, type Shell, type Snippet } from './tool.ts';

/** Texts to copy to direct a client program to the gateway. The key is read from `clientKeyVariable`. */
export const guideOf = (tool: ClientTool, access: Access, shell: Shell) => {
  const [settings, lines] = [tool.settings?.(access) ?? [], inShell(tool, access, shell)];
  // A program is started after its files are written; commands that set one up read the variables.
  const usual = tool.setUpByHand ? [...lines, ...settings] : [...settings, ...lines];
  return {
    name: tool.name,
    title: tool.title,
    protocol: tool.protocol,
    baseUrl: tool.appendsVersion ? access.baseUrl : `${access.baseUrl}/v1`,
    ...(tool.path !== undefined && { path: tool.path }),
    headers: tool.headers ?? {},
    snippets: [...(tool.guide?.(access) ?? usual), ...(tool.examples?.(access, shell) ?? [])],
    notes: [...(tool.notes ?? []), ...launched(tool)],
  };
};

const shellTitles: Readonly<Record<Shell, string>> = { posix: 'Shell', fish: 'fish', powershell: 'PowerShell' };

const inShell = (tool: ClientTool, access: Access, shell: Shell): readonly Snippet[] => {
  const own = Object.entries(tool.variables?.(access) ?? {}).filter(
    ([name, value]) => name !== clientKeyVariable || value !== keyReference,
  );
  const [command] = tool.setUpByHand ? [] : tool.commands;
  const lines = [...shellLines(Object.fromEntries(own), shell), ...(command === undefined ? [] : [command])];
  return lines.length === 0 ? [] : [{ label: shellTitles[shell], text: lines.join('\n') }];
};

const launched = ({ commands: [command], setUpByHand }: ClientTool): readonly string[] =>
  command === undefined || setUpByHand
    ? []
    : [`\`junctor run ${command}\` does the same for a single run, and changes no files.`];
